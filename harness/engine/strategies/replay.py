"""Follow a recorded schedule."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.strategies.scripted import default_choice
from harness.engine.threads import Controlled
from harness.schedule import Schedule

__all__ = ["Replay"]


class Replay:
    """The default order with the schedule's exceptions. `divergence` names the first that could not be followed."""

    name = "replay"
    bound = -1

    def __init__(self, schedule: Schedule) -> None:
        self._choices = dict(schedule.choices)
        self._point = 0
        self.divergence = ""

    def begin(self, execution: int) -> None:
        """Start over."""
        del execution
        self._point = 0
        self.divergence = ""

    def choose(self, me: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Take the recorded thread, or the default where none is recorded or it cannot go."""
        point = self._point
        self._point = point + 1
        wanted = self._choices.get(point)
        if wanted is None:
            return default_choice(me, ready, timer)
        for candidate in ready:
            if candidate.number == wanted:
                return candidate
        if timer is not None and timer.number == wanted:
            return timer
        if not self.divergence:
            names = ", ".join(candidate.name for candidate in ready) or "nobody"
            self.divergence = f"at decision point {point} the schedule wants thread {wanted}, but only {names} could go on"
        return default_choice(me, ready, timer)

    def end(self, points: int) -> None:
        """Note choices that were never reached."""
        beyond = [point for point in self._choices if point >= points]
        if beyond and not self.divergence:
            self.divergence = f"the execution ended after {points} decision points, the schedule has one at {min(beyond)}"
