from __future__ import annotations

import msgspec
import pytest

from harness.history import Event, History
from harness.invariants.catalogue import check_all


class Book:
    """Writes a history by hand, one line an event.

    `begin` gives the number of a call to `end`; `submit`, `cancel`, `close`, `run` and `open` write a whole call at once.
    """

    def __init__(self, mode="controlled"):
        self.mode = mode
        self.events = []
        self._calls = 0
        self._kinds = {}

    def mark(self, kind, thread="main", task=None, session=None, slot=None, **attrs):
        self.events.append(Event(len(self.events), 0, thread, kind, task, session, slot, attrs))
        return self.events[-1]

    def begin(self, kind, thread="main", task=None, session=None, call=None, **attrs):
        if call is None:
            self._calls += 1
            call = self._calls
        self._kinds[call] = (kind, thread, task, session)
        self.mark(kind + "-begin", thread, task, session, call=call, **attrs)
        return call

    def end(self, call, **attrs):
        kind, thread, task, session = self._kinds[call]
        return self.mark(kind + "-end", thread, task, session, call=call, **attrs)

    def service(self, capacity=2, workers=1, answer="ok", *, running_cancel=True, tells_dequeue=False):
        call = self.begin(
            "service-open",
            capacity=capacity,
            workers=workers,
            running_cancel=running_cancel,
            tells_dequeue=tells_dequeue,
        )
        self.end(call, answer=answer)

    def open(self, session="s1", thread="w1", *, asked=False, **attrs):
        truth = {
            "answer": "ok",
            "requested": "xnnpack",
            "actual": "xnnpack",
            "fallback": False,
            "sharing": "exclusive",
            "evidence": "node list",
        }
        self.end(self.begin("session-open", thread, None, session, fallback=asked), **{**truth, **attrs})

    def submit(self, task, answer="accepted", thread="main", refusal=None, **begin):
        call = self.begin("submit", thread, task, **begin)
        self.end(call, answer=answer, **({"refusal": refusal} if refusal else {}))

    def cancel(self, task, answer=True, kind="queued", thread="main"):
        self.end(self.begin("cancel", thread, task), answer=answer, cancel_kind=kind if answer else None)

    def close(self, drain=None, thread="main", *, reentrant=False):
        self.end(self.begin("service-close", thread, drain=drain), answer="returned", reentrant=reentrant)

    def release(self, session="s1", thread="w1", *, again=False):
        self.end(self.begin("session-close", thread, None, session, again=again), answer="ok")

    def bind(self, task, session="s1", thread="w1", *, reached=True, **attrs):
        call = self.begin("bind", thread, task, session, **attrs)
        self.end(call, answer="ok" if reached else "error", reached_runtime=reached)
        return call

    def step(self, call, kind):
        _, thread, task, session = self._kinds[call]
        self.begin(kind, thread, task, session, call)
        self.end(call, answer="ok")

    def run(self, task, session="s1", thread="w1", **attrs):
        call = self.bind(task, session, thread, **attrs)
        self.step(call, "invoke")
        self.step(call, "fetch")

    def deliver(self, task, outcome="SUCCEEDED", output="match", **attrs):
        if outcome == "SUCCEEDED":
            attrs["output"] = output
        return self.mark("deliver", "main", task, outcome=outcome, via="sweep", **attrs)

    def history(self):
        return History(self.mode, tuple(self.events))

    def judge(self, invariant):
        return check_all(self.history())[invariant]

    def broken(self, invariant):
        """The messages of the invariant's violations; every event they point at exists."""
        judgement = self.judge(invariant)
        seqs = {event.seq for event in self.events}
        for violation in judgement.violations:
            assert violation.invariant == invariant
            assert violation.events, "a violation points at events"
            assert set(violation.events) <= seqs
        return [violation.message for violation in judgement.violations]


@pytest.fixture(params=["controlled", "stress"])
def book(request):
    return Book(request.param)


@pytest.fixture
def controlled():
    return Book("controlled")


@pytest.fixture
def stress():
    return Book("stress")


@pytest.fixture(scope="session")
def new_book():
    return Book


@pytest.fixture(scope="session")
def renumber():
    """Give events new numbers in the order of the list, after a mutation."""
    return lambda events: tuple(msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events))
