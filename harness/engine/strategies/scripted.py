"""No choice of its own: each thread runs until it cannot, so that the script alone makes the interleaving."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.compiling import mypyc_attr
from harness.engine.threads import Controlled, State
from harness.schedule import KERNEL

__all__ = ["Scripted", "default_choice", "numbered", "position", "preempts"]


def default_choice(by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
    """Go on while possible, else the ready thread of the lowest number, else the timer: what schedules leave out."""
    if by is not None and by.state is State.READY:
        return by
    if ready:
        lowest = ready[0]
        for candidate in ready:  # three or four: min() with a key takes twice as long
            if candidate.number < lowest.number:
                lowest = candidate
        return lowest
    assert timer is not None, "a decision needs a candidate"
    return timer


def preempts(by: Controlled | None, ready: Sequence[Controlled], chosen: Controlled) -> bool:
    """Whether a choice stops a thread that could go on, or lets a time-out fire although somebody could go."""
    if by is not None and by.state is State.READY:
        return chosen is not by
    return bool(ready) and chosen not in ready


def position(by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> tuple[int, int]:
    """Name a decision point so that it means the same in every execution that was the same so far: thread and step."""
    if by is not None:
        return by.number, by.steps
    candidate = ready[0] if ready else timer
    assert candidate is not None, "a decision needs a candidate"
    return KERNEL, candidate.kernel.rounds


def numbered(number: int, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled | None:
    """Find the candidate of this number; None where it cannot be chosen."""
    for candidate in ready:
        if candidate.number == number:
            return candidate
    return timer if timer is not None and timer.number == number else None


@mypyc_attr(allow_interpreted_subclasses=True)
class Scripted:
    """The default order, always."""

    name = "scripted"
    bound = -1
    whole_to = -1
    races = None
    common = False

    def begin(self, execution: int) -> bool:
        """There is one default order, and so one execution: a repetition would be counted and show nothing."""
        return execution == 0

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Take the default."""
        return default_choice(by, ready, timer)

    def end(self, points: int) -> None:
        """Nothing to learn."""

    def start_over(self) -> None:
        """Nothing was remembered."""
