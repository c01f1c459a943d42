"""Looks at a neighbour process from one execution: outside of controlled time, on the thread that runs executions.

Nobody moves meanwhile and no virtual time passes. What the neighbour answers is an event like any other, so a replay
that hears something else is another history.
"""

from __future__ import annotations

from harness.faults.plan import FaultPlan
from harness.history import Attr
from harness.observe.neighbour import UNDECIDED, Look, Moment, Neighbour, is_harmed
from harness.observe.recorder import Recorder
from harness.verdict import Finding

__all__ = ["Elsewhere"]


class Elsewhere:
    """The neighbour in one execution, None for none. It is asked only once a fault has struck."""

    def __init__(self, neighbour: Neighbour | None, recorder: Recorder, faults: FaultPlan) -> None:
        self._neighbour = neighbour
        self._recorder = recorder
        self._faults = faults
        self._looks: list[Look] = []

    def while_held(self) -> None:
        """Look while a fault holds a call and nobody else can move; once in an execution."""
        if not self._looks:
            self._look("held")

    def after(self) -> None:
        """Look once the service is closed: what it still keeps from others it has no reason to."""
        self._look("after")

    @property
    def harmed(self) -> bool:
        """Whether the neighbour is not as it was. What harms it may stay in the process, or on the device."""
        return any(map(is_harmed, self._looks))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What cannot be decided: a slow machine may look like it, too."""
        unsure = {answer for look in self._looks for answer in look.answers if answer in UNDECIDED}
        return tuple(Finding("neighbour-unsure", _SAYS[answer]) for answer in sorted(unsure))

    def _look(self, moment: Moment) -> None:
        if self._neighbour is None or not self._faults.injected:
            return
        look = self._neighbour.look(moment)
        self._looks.append(look)
        attrs: dict[str, Attr] = {"moment": moment, "fresh": look.fresh}
        if look.in_flight:
            attrs["in_flight"] = look.in_flight
        self._recorder.record("process-look", attrs=attrs)


_SAYS = {
    "late": "another process was answered, but so late that its machine may be to blame",
    "lost": "another process was not answered and had to be replaced by one that was",
}
assert _SAYS.keys() == UNDECIDED, "each has its text"
