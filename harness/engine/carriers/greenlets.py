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
from harness.engine.real import get_ident, get_native_id
from harness.engine.threads import CONTROLLED, Controlled

__all__ = ["GreenletCarriers"]


class _Greenlet:
    """A reusable carrier and the baton of the thread that it carries."""

    __slots__ = ("_body", "_carried", "_carriers", "greenlet", "ident", "native_id")

    def __init__(self, carriers: GreenletCarriers) -> None:
        self._carriers = carriers
        self._carried: Any = None
        self._body: Callable[[Controlled, Baton], None] | None = None
        self.greenlet: Any = greenlet(self._loop, carriers.hub)
        self.ident = carriers.ident
        self.native_id = carriers.native_id

    def assign(self, thread: Controlled, body: Callable[[Controlled, Baton], None]) -> None:
        self._carried = thread
        self._body = body

    def _loop(self) -> None:
        carriers = self._carriers
        while True:
            assert self._body is not None, "a carrier is switched to when it has been assigned"
            self._body(self._carried, self)
            self._carried = self._body = None
            chosen, carriers.chosen = carriers.chosen, None
            (carriers.hub if chosen is None else chosen).switch()

    def pass_on(self) -> None:
        self._carriers.chosen = self.greenlet

    def take(self) -> None:
        carriers = self._carriers
        chosen, carriers.chosen = carriers.chosen, None
        if chosen is not self.greenlet:
            (carriers.hub if chosen is None else chosen).switch()
        assert self._carried is not None, "a baton is taken by the thread that is carried"
        CONTROLLED[self.ident] = self._carried

    def hand_to(self, other: Any) -> None:
        other.greenlet.switch()
        CONTROLLED[self.ident] = self._carried

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
        self.native_id = get_native_id()
        self.chosen: Any = None
        self._idle: list[_Greenlet] = []
        self.control = _Control(self)

    def start(self, thread: Controlled, body: Callable[[Controlled, Baton], None]) -> Baton:
        """Assign an idle carrier, or a new one."""
        carrier = self._idle.pop() if self._idle else _Greenlet(self)
        carrier.assign(thread, body)
        return carrier

    def retire(self, baton: Baton) -> None:
        """Take a carrier back."""
        assert isinstance(baton, _Greenlet), "a carrier comes back to where it came from"
        self._idle.append(baton)

    def abandon(self, baton: Baton) -> None:
        """Leave a greenlet where it is."""

    def close(self) -> None:
        """Let the idle greenlets go: whoever holds none of them any more frees it."""
        self._idle.clear()
