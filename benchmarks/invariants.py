"""How long all checkers take over one ordinary history: `python benchmarks/invariants.py` prints the median."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

from harness.history import Attr, Event, History
from harness.invariants.catalogue import CATALOGUE, check_all
from harness.invariants.index import Index

ROUNDS = 5_000


class Writer:
    """Numbers events and calls."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.calls = 0

    def mark(self, kind: str, thread: str, task: str | None = None, session: str | None = None, **attrs: Attr) -> None:
        """Add one event."""
        self.events.append(Event(len(self.events), 0, thread, kind, task, session, None, attrs))

    def call(self, kind: str, thread: str, task: str | None = None, session: str | None = None, **end: Attr) -> None:
        """Add a call that begins and ends."""
        self.calls += 1
        self.mark(f"{kind}-begin", thread, task, session, call=self.calls)
        self.mark(f"{kind}-end", thread, task, session, call=self.calls, **end)

    def run(self, task: str) -> None:
        """Add the three steps of a run."""
        self.calls += 1
        for step in ("bind", "invoke", "fetch"):
            self.mark(f"{step}-begin", "w1", task, "s1", call=self.calls)
            self.mark(f"{step}-end", "w1", task, "s1", call=self.calls, answer="ok", reached_runtime=True)


def ordinary() -> History:
    """A queue for two tasks with two submitters, one canceller and one closer, about sixty events."""
    book = Writer()
    book.mark("service-open-begin", "main", call=0, capacity=2, workers=1, running_cancel=True, tells_dequeue=True)
    truth: dict[str, Attr] = {"requested": "cpu", "actual": "cpu", "fallback": False, "sharing": "exclusive"}
    book.call("session-open", "w1", None, "s1", answer="ok", evidence="node list", **truth)
    book.mark("service-open-end", "main", call=0, answer="ok")
    for task in ("t1", "t2", "t3"):
        book.call("submit", "a1", task, answer="accepted")
        if task == "t1":
            book.mark("dequeue", "w1", task)
    book.call("submit", "a2", "t5", answer="refused", refusal="full", error="QueueFullError")
    for task in ("t1", "t2", "t3", "t4"):
        if task == "t4":
            book.call("submit", "a1", task, answer="accepted")
        if task != "t1":
            book.mark("dequeue", "w1", task)
        if task == "t3":
            book.call("cancel", "a2", task, answer=True, cancel_kind="running")
        book.run(task)
    book.mark("service-close-begin", "main", call=-1, drain=True)
    book.call("session-close", "w1", None, "s1", answer="ok")
    book.mark("service-close-end", "main", call=-1, answer="returned", reentrant=False)
    book.mark("quiescent", "main")
    for task in ("t1", "t2", "t4"):
        book.mark("deliver", "main", task, outcome="SUCCEEDED", output="match", via="sweep")
    book.mark("deliver", "main", "t3", outcome="CANCELLED", via="sweep")
    return History("controlled", tuple(book.events))


def median_us(work: Callable[[], object]) -> float:
    """The median of many calls, in microseconds."""
    times: list[int] = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        work()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1_000


def main() -> None:
    """Measure and print."""
    history = ordinary()
    assert not any(judgement.violations for judgement in check_all(history).values()), "the history is a correct one"
    index = Index(history)
    print(f"{len(history.events)} events, {len(CATALOGUE)} invariants, {ROUNDS} rounds")
    print(f"{'index':26} {median_us(lambda: Index(history)):8.1f} us")
    for id_, invariant in CATALOGUE.items():
        print(f"{id_:26} {median_us(partial(invariant.check, index)):8.1f} us")
    print(f"{'everything':26} {median_us(lambda: check_all(history)):8.1f} us")


if __name__ == "__main__":
    main()
