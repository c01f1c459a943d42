"""The controlled world: the kernel of one execution, as observers and scripts see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from harness.engine.kernel import Kernel
from harness.engine.threads import Controlled, current

__all__ = ["ControlledWorld"]


class ControlledWorld:
    """One execution's `World`. On a thread that is not controlled it answers as the harness itself and never waits."""

    def __init__(self, kernel: Kernel, *, held: bool) -> None:
        self.kernel = kernel
        self.holds_native = held
        self._in_flight: dict[str, Controlled] = {}

    def thread(self) -> str:
        """The logical name of the calling thread."""
        me = current()
        return "harness" if me is None else me.name

    def now_ns(self) -> int:
        """Virtual time. Somebody observes something: the threads are not at rest, and the order matters."""
        kernel = self.kernel
        kernel.idle_wakes = 0
        if kernel.causality is not None:
            me = current()
            if me is not None:
                kernel.touch(me, self, "history")
        return kernel.now_ns

    def pause(self) -> None:
        """A decision point. Only a thread that escaped control comes here without being controlled."""
        me = current()
        if me is None:
            self.kernel.escaped = "a thread that is not under control used a session"
        else:
            self.kernel.point(me)

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        me = current()
        if me is not None:
            self.kernel.block(me, "sleep", seconds)

    def native(self, session: str, call: Callable[[], object]) -> None:
        """Make a native call, atomic or held."""
        me = current()
        if me is None:
            call()
            return
        me.in_call = True
        try:
            if self.holds_native:
                self._in_flight[session] = me
                self.kernel.native(me, call)
            else:
                call()
        finally:
            me.in_call = False
            self._in_flight.pop(session, None)

    def interrupted(self, session: str) -> None:
        """A held call on this session now ends: its return can be chosen."""
        thread = self._in_flight.get(session)
        if thread is not None:
            self.kernel.expect_return(thread)

    def moment(self) -> object:
        """This moment of the calling thread."""
        return (current(), self.kernel.sync.now())

    def handover(self, moment: object) -> str:
        """How the calling thread knows of a moment."""
        if moment is None:
            return "unknown"
        earlier, since = cast("tuple[Controlled | None, int]", moment)
        me = current()
        if earlier is me:
            return "same"
        return "ordered" if self.kernel.sync.ordered(since, earlier, me) else "unordered"
