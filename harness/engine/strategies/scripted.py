"""No choice of its own: each thread runs until it cannot, so that the script alone makes the interleaving."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.threads import Controlled, State

__all__ = ["Scripted", "default_choice"]


def default_choice(by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
    """Go on while possible, else the ready thread of the lowest number, else the timer: what schedules leave out."""
    if by is not None and by.state is State.READY:
        return by
    if ready:
        return min(ready, key=_number)
    assert timer is not None, "a decision needs a candidate"
    return timer


def _number(thread: Controlled) -> int:
    return thread.number


class Scripted:
    """The default order, always."""

    name = "scripted"
    bound = -1

    def begin(self, execution: int) -> None:
        """Nothing to prepare."""

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Take the default."""
        return default_choice(by, ready, timer)

    def end(self, points: int) -> None:
        """Nothing to learn."""
