"""Follow a recorded schedule."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.strategies.scripted import default_choice, position
from harness.engine.threads import Controlled
from harness.schedule import Schedule

__all__ = ["Replay"]


class Replay:
    """The default order with the schedule's exceptions. `divergence` names the first that could not be followed."""

    races = None

    def __init__(self, schedule: Schedule) -> None:
        self._choices = {(by, step): chosen for by, step, chosen in schedule.choices}
        self._left = dict(self._choices)
        self.divergence = ""

    def begin(self, execution: int) -> bool:
        """Start over."""
        del execution
        self._left = dict(self._choices)
        self.divergence = ""
        return True

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Take the recorded thread, or the default where none is recorded or it cannot go."""
        wanted = self._left.pop(position(by, ready, timer), None)
        if wanted is None:
            return default_choice(by, ready, timer)
        for candidate in ready:
            if candidate.number == wanted:
                return candidate
        if timer is not None and timer.number == wanted:
            return timer
        if not self.divergence:
            names = ", ".join(candidate.name for candidate in ready) or "nobody"
            who = "the start" if by is None else f"step {by.steps} of {by.name}"
            self.divergence = f"at {who} the schedule wants thread {wanted}, but only {names} could go on"
        return default_choice(by, ready, timer)

    def end(self, points: int) -> None:
        """Note choices that were never reached."""
        del points
        if self._left and not self.divergence:
            by, step = min(self._left)
            self.divergence = (
                f"the execution ended, and step {step} of thread {by} was never reached with a choice to make"
            )
