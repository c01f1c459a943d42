"""The controlled world: the kernel of one execution, as observers and scripts see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from harness.engine.kernel import Kernel
from harness.engine.threads import Controlled, current
from harness.execution.conflicts import accesses
from harness.history import Attr

__all__ = ["ControlledWorld"]


class ControlledWorld:
    """One execution's `World`. On a thread that is not controlled it answers as the harness itself and never waits."""

    def __init__(self, kernel: Kernel, *, held: bool) -> None:
        self.kernel = kernel
        self.holds_native = held
        self._in_flight: dict[str, Controlled] = {}
        self._tells = False

    def thread(self) -> str:
        """The logical name of the calling thread."""
        me = current()
        return "harness" if me is None else me.name

    def now_ns(self) -> int:
        """Virtual time. Somebody observes something: the threads are not at rest."""
        self.kernel.observed()
        return self.kernel.now_ns

    @property
    def order(self) -> Callable[[str, object, str | None, str | None, dict[str, Attr]], None] | None:
        """What tells the search of each event's order, None for a strategy that does not ask."""
        return None if self.kernel.pasts is None else self._order

    def _order(self, kind: str, task: object, session: str | None, slot: str | None, attrs: dict[str, Attr]) -> None:
        me = current()
        if me is not None:
            self.kernel.touch(me, self.kernel, "clock", write=False)  # an event has a time, and checkers look at it
            for thing, group in accesses(kind, task, session, slot, attrs, tells=self._tells):
                self.kernel.touch_among(me, self, thing, group)
        self._tells |= kind == "dequeue"

    def shared(self, what: object, *, write: bool) -> None:
        """Tell the search of an access to the harness's own state."""
        me = current()
        if me is not None:
            self.kernel.touch(me, what, "harness", write=write)

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

    def jump(self, seconds: float) -> None:
        """Put every clock forward at once. What is due by then fires as soon as somebody lets it."""
        me = current()
        if me is not None:
            self.kernel.now_ns += round(seconds * 1e9)
            self.kernel.touch(me, self.kernel, "clock")

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
