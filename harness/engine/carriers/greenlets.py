"""Controlled threads as greenlets on one thread of the operating system: no hand-over by the system, for wide searches.

What belongs to an operating system's thread is shared here, and the engine gives each controlled thread its own:
identity and `threading.local` (asyncio's running loop is not, so programs with loops need real threads). A greenlet
is never switched inside a native call, so held calls need real threads too. A thread that escapes control takes the
kernel's own thread with it: nobody is left to notice, and the supervisor's deadline ends the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from greenlet import getcurrent, greenlet

from harness.engine.carriers.carrier import Baton
from harness.engine.real import get_ident
from harness.engine.threads import CONTROLLED, Controlled

__all__ = ["GreenletCarriers"]


class _Greenlet:
    """A carrier and the baton of the thread that it carries."""

    __slots__ = ("_carriers", "_thread", "greenlet", "ident")

    def __init__(self, carriers: GreenletCarriers, thread: Controlled, body: Callable[[Baton], None]) -> None:
        self._carriers = carriers
        self._thread = thread
        self.greenlet: Any = greenlet(lambda: body(self), carriers.hub)
        self.ident = carriers.ident

    def pass_on(self) -> None:
        self._carriers.chosen = self.greenlet

    def take(self) -> None:
        carriers = self._carriers
        chosen, carriers.chosen = carriers.chosen, None
        if chosen is not self.greenlet:
            (carriers.hub if chosen is None else chosen).switch()
        CONTROLLED[self.ident] = self._thread

    def frame(self) -> FrameType | None:
        return self.greenlet.gr_frame


class _Control:
    """The kernel's own greenlet, which runs when no other can."""

    def __init__(self, carriers: GreenletCarriers) -> None:
        self._carriers = carriers
        self._passed = False

    def pass_on(self) -> None:
        self._passed = True

    def take(self, timeout: float) -> bool:
        del timeout  # nobody else could end the wait
        carriers = self._carriers
        while not self._passed:
            chosen, carriers.chosen = carriers.chosen, None
            assert chosen is not None, "the token is somebody's"
            chosen.switch()
        self._passed = False
        CONTROLLED.pop(carriers.ident, None)
        return True


class GreenletCarriers:
    """Makes a greenlet for each controlled thread, on the thread that made this."""

    def __init__(self) -> None:
        self.hub: Any = getcurrent()
        self.ident = get_ident()
        self.chosen: Any = None
        self.control = _Control(self)

    def start(self, thread: Controlled, body: Callable[[Baton], None]) -> Baton:
        """Make a carrier."""
        return _Greenlet(self, thread, body)

    def retire(self, baton: Baton) -> None:
        """A greenlet ends with its body."""

    def abandon(self, baton: Baton) -> None:
        """Leave a greenlet where it is."""

    def close(self) -> None:
        """There is nothing to end."""
