"""What the event ring costs a task: queues with it and without it take turns, in one run.

python benchmarks/event_ring.py [--adapter onnxruntime] [--rounds 200]

"nothing" is a session that does nothing, so that tasks follow each other with warm caches; the others are real runs of
`builtin:slow`. Two of the queues have no ring: what they differ by is what the machine adds. Each round gives every
queue its turn, in an order that rotates; a figure is the median over rounds, with the middle half.
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import ExitStack
from typing import Any

import numpy as np
from service import LENGTHS_MS, WINDOW, Model, Timed, closing, service_rate

from adapters.base import Arrays, Contract, Counters, DelegateTruth, Identity, Opener, Session
from harness.models.registry import load_adapter
from harness.service.config import ServiceConfig
from harness.service.queue import SerialQueue

EVENTS = 256
TURNS: dict[str, int] = {"without": 0, "without, again": 0, "with": EVENTS}
TASKS = 400
"""Tasks of a turn with the session that does nothing; with a model it is one task."""
SAME = 3
"""Rounds with the same queues: two threads that take turns fall into step in one way or another, and keep to it."""


class Nothing(Session):
    """Returns the same output at once."""

    contract = Contract(inputs=(), outputs=())
    identity = Identity(runtime="none", version="0", build="", artifacts={})
    delegate = DelegateTruth(requested="cpu", actual="cpu", graph_nodes=1, placement=(), evidence="none")

    def __init__(self) -> None:
        self._outputs = {"y": np.zeros(1, np.float32)}

    def call(self, inputs: Arrays) -> Any:
        """Never asked for: `run` is overridden."""
        raise NotImplementedError

    def run(self, inputs: Arrays) -> dict[str, Any]:
        """Return."""
        del inputs
        return self._outputs

    def counters(self) -> Counters:
        """Count nothing."""
        return Counters()

    def close(self) -> None:
        """Release nothing."""


def always(session: Session) -> Opener:
    """An opener of one session."""

    def open_session(*, fallback: bool = False) -> Session:
        assert not fallback, "the default delegate starts"
        return session

    return open_session


def in_turn(names: list[str], number: int) -> list[str]:
    """The names, in another order each round."""
    by = number % len(names)
    return names[by:] + names[:by]


def back_to_back(rounds: int) -> dict[str, list[float]]:
    """Seconds a task, tasks one after the other, for each queue and round."""
    inputs = {"x": np.zeros(1, np.float32)}
    seconds: dict[str, list[float]] = {name: [] for name in TURNS}
    for sitting in range(rounds // SAME):
        with ExitStack() as stack:
            made = {
                name: stack.enter_context(
                    SerialQueue(always(Nothing()), ServiceConfig(capacity=2 * WINDOW, events=TURNS[name]))
                )
                for name in in_turn(list(TURNS), sitting)
            }
            for number in range(SAME):
                for name in in_turn(list(made), number):
                    seconds[name].append(1 / service_rate(made[name], inputs, TASKS))
    return seconds


def around_a_model(model: Model, milliseconds: float, rounds: int) -> dict[str, list[float]]:
    """Seconds that a task takes beside its run, one task at a time, for each queue and round."""
    inputs = model.inputs_of(milliseconds)
    seconds: dict[str, list[float]] = {name: [] for name in TURNS}
    with ExitStack() as stack:
        made: dict[str, tuple[SerialQueue, Timed]] = {}
        for name, events in TURNS.items():
            session = Timed(model.open())
            queue = SerialQueue(always(session), ServiceConfig(capacity=2, events=events))
            stack.enter_context(closing(queue))
            queue.submit(inputs).result()
            made[name] = (queue, session)
        for number in range(rounds):
            for name in in_turn(list(made), number):
                queue, session = made[name]
                begun = time.perf_counter()
                queue.submit(inputs).result()
                seconds[name].append(time.perf_counter() - begun - session.took)
    return seconds


def report(title: str, seconds: dict[str, list[float]]) -> None:
    """Print what each queue differs by from the first, in the same round."""
    base = seconds["without"]
    print(f"\n{title}: {statistics.median(base) * 1e6:.1f} microseconds a task without the ring")
    for name in list(TURNS)[1:]:
        more = statistics.quantiles((1e6 * (one - other) for one, other in zip(seconds[name], base, strict=True)), n=4)
        ratio = statistics.median(one / other for one, other in zip(seconds[name], base, strict=True))
        print(f"  {name:16} {more[1]:+6.2f} ({more[0]:+.2f} to {more[2]:+.2f})   ratio {ratio:.3f}")


def main() -> None:
    """Print the differences."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--adapter", default="onnxruntime")
    parser.add_argument("--rounds", type=int, default=200)
    asked = parser.parse_args()
    report("a session that does nothing", back_to_back(asked.rounds))
    model = Model(load_adapter(asked.adapter), "builtin:slow")
    for length in LENGTHS_MS:
        report(f"{length:.0f} ms of a model", around_a_model(model, length, 5 * asked.rounds))


if __name__ == "__main__":
    main()
