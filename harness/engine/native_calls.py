"""Native calls that are held: other threads go on while one is inside native code, and its return is a decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.engine.carriers.carrier import Carriers
from harness.engine.real import in_turn
from harness.engine.scheduler import Scheduler
from harness.engine.strategies.strategy import Chooser
from harness.engine.threads import Controlled, ExecutionAbortedError, State

__all__ = ["NativeCalls", "Timed"]


@dataclass(frozen=True, slots=True)
class Timed:
    """A native call that is parked in native code for so many virtual `seconds`: a timer, as a time-out is one.

    `pass_through` lets it go as soon as it is parked, and is called on a real thread of its own. `end` lets it go and
    returns when the call has, after `expect_return`; it is called on whatever thread holds the token.
    """

    seconds: float
    pass_through: Callable[[], object]
    end: Callable[[], object]


class NativeCalls(Scheduler):
    """The scheduler's part that knows how a call is made without the token."""

    def __init__(self, carriers: Carriers, chooser: Chooser, limit: int = 20_000) -> None:
        super().__init__(carriers, chooser, limit)
        self._timed: dict[int, Timed] = {}

    def native(
        self,
        me: Controlled,
        call: Callable[[], object],
        entered: Callable[[], object] | None = None,
        timed: Timed | None = None,
    ) -> None:
        """Make a native call without the token: others go on while it is in flight, and its end is a decision.

        The end can be chosen after `expect_return`; the token then waits for the call in real time. A call that
        ends unasked, when nobody else can move, makes the execution depend on real time (`real_time_mattered`).
        With `entered` it never does: it is parked in native code, and nobody moves before `entered` has returned.
        Where that is `timed`, its return can be chosen at any decision from then on at which no earlier timer is
        pending; chosen at once, it returns before anybody moves.
        """
        me.state = State.NATIVE
        self._ready.remove(me)
        if entered is None:
            self._native.append(me)
        elif timed is not None:
            self.set_timer(me, timed.seconds)
        me.steps += 1
        chosen = self._running = self._next(me)
        if chosen is not me:
            self._let_others_go(me, chosen, entered, timed)
        elif timed is not None:
            in_turn(timed.pass_through)
        try:
            call()
        finally:
            if chosen is not me:
                me.baton.take()
                self._timed.pop(me.number, None)
                if me.aborted:
                    raise ExecutionAbortedError

    def _let_others_go(
        self, me: Controlled, chosen: Controlled | None, entered: Callable[[], object] | None, timed: Timed | None
    ) -> None:
        baton = self._control if chosen is None else chosen.baton
        if timed is not None:
            self._timed[me.number] = timed
        if entered is None:
            baton.pass_on()
        else:
            in_turn(entered, baton.pass_on)  # this thread will be inside native code

    def end_native(self, thread: Controlled) -> None:
        """Make a timed call return, and wait for that: whatever else the runtime does in it, nobody moves meanwhile."""
        timed, running = self._timed.pop(thread.number, None), self._running
        was_in_call = running is not None and running.in_call
        if running is not None:
            running.in_call = True  # it is no stall if that takes long
        if timed is not None:
            timed.end()
        self.expect_return(thread)  # at the latest: it was chosen before the call was made, or does not return
        if running is not None:
            running.in_call = was_in_call
