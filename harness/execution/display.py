"""A confirmed failure with all that a person sees of it."""

from __future__ import annotations

from collections.abc import Iterable

from harness.execution.controlled import Execution, Laboratory
from harness.schedule import Schedule
from harness.verdict import Failure, Violation

__all__ = ["failure_of"]


def failure_of(
    laboratory: Laboratory, schedule: Schedule, execution: Execution, violations: Iterable[Violation], number: int
) -> Failure:
    """Make the failure of an execution that `schedule` repeats; `number` is the one in which it was found.

    It is replayed once more to see where in their code the threads were. What that replay shows is left out if its
    history differs from the execution's, or if the execution had left a thread behind.
    """
    digest = execution.history.digest()
    failure = Failure(tuple(violations), schedule.token(), digest, number, execution.history.events, execution.blocked)
    if not execution.clean:
        return failure
    again, tracer = laboratory.trace(schedule)
    if again.history.digest() != digest:
        return failure
    return Failure(
        failure.violations,
        failure.token,
        digest,
        number,
        failure.events,
        again.blocked,
        places=tuple(tracer.places[: len(failure.events)]),
        stops=tuple(stop for stop in tracer.stops if stop.after <= len(failure.events)),
        lines=tracer.lines,
    )
