"""What the observers need from whatever runs the execution, controlled or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from harness.history import Attr

__all__ = ["World"]


class World(Protocol):
    """Called on the thread that makes the observed call."""

    def thread(self) -> str:
        """The logical name of the calling thread."""
        ...

    def now_ns(self) -> int:
        """Virtual time in nanoseconds since the execution began. Reading it here does not move it."""
        ...

    @property
    def order(self) -> Callable[[str, object, str | None, str | None, dict[str, Attr]], None] | None:
        """Called with each event (kind, task, session, slot, attrs) as it is recorded; None where nobody need know."""
        ...

    def shared(self, what: object, *, write: bool) -> None:
        """The calling thread looks at, or changes, something of the harness that others look at."""

    def pause(self) -> None:
        """A decision point."""

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""

    def jump(self, seconds: float) -> None:
        """Put every clock forward at once."""

    holds_native: bool
    """Whether native calls are held, not atomic."""

    def native(self, session: str, call: Callable[[], object]) -> None:
        """Make a native call: atomic just before its end, or held while others go on, as the scenario says."""

    def interrupted(self, session: str) -> None:
        """The call in flight on this session has been asked to end early."""

    def moment(self) -> object:
        """This moment of the calling thread, to be handed to `seen_since`."""
        ...

    def handover(self, moment: object) -> str:
        """How the calling thread knows of that moment: `same`, `ordered`, `unordered` or `unknown`."""
        ...
