"""The kernel of one controlled execution: who may run, who waits for what, what time it is.

Exactly one controlled thread runs at a time: it holds the token. At each decision point it asks the strategy who goes
next and passes that thread's baton on. All fields are touched by the token's holder alone, so there is no lock here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import Context
from pathlib import Path
from types import FrameType
from typing import Any

from harness.engine.carriers.carrier import Baton, Carriers
from harness.engine.causality import Causality
from harness.engine.happens_before import SyncLog
from harness.engine.strategies.scripted import default_choice, position
from harness.engine.strategies.strategy import Strategy
from harness.engine.threads import CONTROLLED, Controlled, ExecutionAbortedError, State

__all__ = ["Kernel", "Stalled"]

CLOCK_READ_NS = 1_000
"""Each read of a controlled clock moves it, so that a loop that polls the clock ends."""
STALL_SECONDS = 5.0
"""Real time without a decision point, outside native calls, after which a thread counts as escaped from control."""
STALL_LOOKS = 5
"""How often the kernel looks in that time."""
IDLE_WAKES = 200
"""Time-outs in a row, with nobody else able to move and nothing observed, before the threads count as at rest."""
UNWIND_SECONDS = 2.0
"""Real time that an aborted thread gets to unwind before its carrier is given up."""


class Stalled:
    """A thread that ran on without reaching a decision point: where it was seen."""

    def __init__(self, thread: str, where: str) -> None:
        self.thread = thread
        self.where = where


class Kernel:
    """Runs one execution. Made and driven on a thread that is not controlled.

    `points` counts the decision points that had a choice, `choices` records those where the default was not taken,
    `limit` ends an execution that has more points than that (`out_of_budget` is then set).
    """

    def __init__(self, carriers: Carriers, strategy: Strategy, limit: int = 20_000) -> None:
        self._carriers = carriers
        self._choose = strategy.choose
        self._limit = limit
        self._step_limit = 10 * limit
        self._ready: list[Controlled] = []
        self._timers: list[Controlled] = []
        self._native: list[Controlled] = []
        self._control = carriers.control
        self._unwinding: Controlled | None = None
        self._running: Controlled | None = None
        self.threads: list[Controlled] = []
        self.choices: list[tuple[int, int, int]] = []
        self.points = 0
        self.steps = 0
        self.now_ns = 0
        self.sync = SyncLog()
        self.causality: Causality | None = None
        self.at_statements = False
        self.pruned = False
        self.out_of_budget = False
        self.real_time_mattered = False
        self.idle_wakes = 0
        self.stalled: Stalled | None = None
        self.services_started = 0
        self.escaped = ""
        self.rounds = 0

    # -- threads ------------------------------------------------------------------------------------------------------

    def spawn(
        self,
        name: str,
        body: Callable[[], object],
        *,
        role: str,
        daemon: bool = False,
        thread: Any = None,
        parent: Controlled | None = None,
    ) -> Controlled:
        """Make a controlled thread; it can be chosen from now on."""
        controlled = Controlled(self, len(self.threads), name, role=role, daemon=daemon, thread=thread)

        def carried(baton: Baton) -> None:
            self._carry(controlled, baton, body)

        controlled.baton = self._carriers.start(controlled, carried)
        controlled.ident = controlled.baton.ident
        self.threads.append(controlled)
        self._ready.append(controlled)
        if self.causality is not None:
            self.causality.started(controlled, parent)
        return controlled

    def _carry(self, me: Controlled, baton: Baton, body: Callable[[], object]) -> None:
        CONTROLLED[me.ident] = me
        try:
            if not me.aborted:
                Context().run(body)  # a thread begins with no context variable set, whatever its carrier carried before
        except ExecutionAbortedError:
            pass
        except BaseException as error:  # noqa: BLE001 - how a thread of the code under test died is data
            me.died_of = error
        finally:
            del CONTROLLED[me.ident]
        if self._unwinding is not me and me.aborted:
            return  # given up on long ago: nobody waits for this carrier any more
        me.state = State.DONE
        self.sync.release(me, me)
        self.touch(me, me)
        if me in self._ready:
            self._ready.remove(me)
        for joiner in me.joiners:
            self.wake(joiner)
        self._carriers.retire(baton)
        if self._unwinding is me:
            self._control.pass_on()
        else:
            self._hand_over(me, ended=True)

    # -- decision points ----------------------------------------------------------------------------------------------

    def point(self, me: Controlled) -> None:
        """A decision point: the strategy may let another thread go first."""
        if me.aborted:
            raise ExecutionAbortedError
        self.steps += 1
        me.steps += 1
        if self.out_of_budget or self.steps > self._step_limit:
            self._give_up(me)
        if len(self._ready) > 1 or self._timers:
            chosen = self._decide(me)
            if chosen is not me:
                self._running = chosen
                chosen.baton.pass_on()
                me.baton.take()
                if me.aborted:
                    raise ExecutionAbortedError

    def access(self, me: Controlled, what: object, name: str, *, write: bool) -> None:
        """An access that instrumented code reports, just before it is made: a decision point, if statements are."""
        if self.at_statements:
            self.point(me)
        self.touch(me, what, name, write=write)

    def touch(self, me: Controlled, what: object, name: str = "", *, write: bool = True) -> None:
        """Note that a thread reads or writes something that others may: a search must know what conflicts."""
        if self.causality is not None:
            self.causality.access(me, what, name, write=write)

    def block(self, me: Controlled, waits_for: object, timeout: float | None = None) -> bool:
        """Wait until another thread wakes this one, or the time-out fires: False then. Virtual seconds."""
        if me.aborted:
            raise ExecutionAbortedError
        me.state = State.BLOCKED
        me.waits_for = waits_for
        me.fired = False
        self._ready.remove(me)
        if timeout is not None:
            self.touch(me, self, "clock")
            me.deadline_ns = self.now_ns + max(0, round(timeout * 1e9))
            self._timers.append(me)
        self._hand_over(me)
        return not me.fired

    def wake(self, thread: Controlled) -> None:
        """Make a blocked thread ready; one that is ready already stays so."""
        if thread.state is not State.BLOCKED:
            return
        thread.state = State.READY
        thread.waits_for = None
        if thread.deadline_ns is not None:
            thread.deadline_ns = None
            self._timers.remove(thread)
        self._ready.append(thread)

    def _hand_over(self, me: Controlled, *, ended: bool = False) -> None:
        """Let somebody else go, or the kernel's own thread if nobody can; come back when `me` is chosen."""
        me.steps += 1
        chosen = self._next(me)
        if chosen is not me:
            self._running = chosen
            if chosen is None:
                self._control.pass_on()
            else:
                chosen.baton.pass_on()
            if not ended:
                me.baton.take()
        if me.aborted and not ended:
            raise ExecutionAbortedError

    def _next(self, by: Controlled | None) -> Controlled | None:
        """Who goes next when `by` cannot go on; None if nobody can, or the execution is over."""
        if not self._ready and not self._timers and self._native:
            self.real_time_mattered = True
            self.expect_return(self._native[0])
        if not self._ready and not self._timers:
            return None
        if self.out_of_budget or (not self._ready and self._idle()):
            return None
        if len(self._ready) == 1 and not self._timers:
            return self._ready[0]
        return self._decide(by)

    def _idle(self) -> bool:
        """Whether only timers move any more, again and again, with nothing observed: polling workers at rest."""
        self.idle_wakes += 1
        return self.idle_wakes > IDLE_WAKES

    def _decide(self, by: Controlled | None) -> Controlled:
        timer = min(self._timers, key=_due) if self._timers else None
        if timer is None or self._ready:
            self.points += 1
            if self.points > self._limit:
                self._give_up(by)
            chosen = self._choose(by, self._ready, timer)
            if chosen is None:
                self.pruned = True
                self._give_up(by)
                chosen = default_choice(by, self._ready, timer)
            elif chosen is not default_choice(by, self._ready, timer):
                who, step = position(by, self._ready, timer)
                self.choices.append((who, step, chosen.number))
        else:
            chosen = timer
        if chosen is timer:
            self._fire(chosen)
        return chosen

    def _give_up(self, by: Controlled | None) -> None:
        """End the execution; a thread that could go on stays where it is, for one that cannot its caller cares."""
        self.out_of_budget = True
        if by is not None and by.state is State.READY:
            self._running = None
            self._control.pass_on()
            by.baton.take()
            raise ExecutionAbortedError

    def _fire(self, thread: Controlled) -> None:
        assert thread.deadline_ns is not None, "only a thread with a deadline is a timer"
        self.now_ns = max(self.now_ns, thread.deadline_ns)
        self.touch(thread, self, "clock")
        self.wake(thread)
        thread.fired = True

    # -- time ---------------------------------------------------------------------------------------------------------

    def read_clock(self, me: Controlled) -> int:
        """The virtual nanoseconds since the execution began; reading them moves them, and fires what is then due."""
        self.now_ns += CLOCK_READ_NS
        self.touch(me, self, "clock")
        for thread in [thread for thread in self._timers if _due(thread)[0] <= self.now_ns]:
            self.wake(thread)
            thread.fired = True
        return self.now_ns

    # -- native calls that are held -----------------------------------------------------------------------------------

    def native(self, me: Controlled, call: Callable[[], object]) -> None:
        """Make a native call without the token: others go on while it is in flight, and its end is a decision.

        The end can be chosen after `expect_return`; the token then waits for the call in real time. A call that
        ends unasked, when nobody else can move, makes the execution depend on real time (`real_time_mattered`).
        """
        me.state = State.NATIVE
        self._ready.remove(me)
        self._native.append(me)
        me.steps += 1
        chosen = self._next(me)
        self._running = chosen
        if chosen is not me and chosen is not None:
            chosen.baton.pass_on()
        try:
            call()
        finally:
            if chosen is not me:
                me.baton.take()
                if me.aborted:
                    raise ExecutionAbortedError

    def expect_return(self, thread: Controlled) -> None:
        """The harness has made this thread's native call end: its return can be chosen from now on."""
        if thread in self._native:
            self._native.remove(thread)
            thread.state = State.READY
            self._ready.append(thread)

    # -- driving from outside -----------------------------------------------------------------------------------------

    def go(self) -> None:
        """Run until nobody can move and no timer is pending, the limit is reached, or a thread stalls."""
        self.rounds += 1
        chosen = self._next(None)
        if chosen is None:
            return
        self._running = chosen
        chosen.baton.pass_on()
        self._wait_for_control()

    def _wait_for_control(self) -> None:
        seen, still = -1, 0
        while not self._control.take(STALL_SECONDS / STALL_LOOKS):
            running = self._running
            moves = running is None or running.in_call or self.steps != seen
            seen, still = self.steps, 0 if moves else still + 1
            if running is not None and still >= STALL_LOOKS:
                self.stalled = Stalled(running.name, where_is(running.baton.frame()))
                return

    def abort_rest(self) -> bool:
        """Unwind every thread that is left, in turn. False if one of them would not: its carrier is given up."""
        for thread in self.threads:
            thread.aborted = True
        _EXECUTOR_LOG.disabled = True  # an executor logs whatever ends its worker: here that is we
        try:
            return self._unwind()
        finally:
            _EXECUTOR_LOG.disabled = False

    def _unwind(self) -> bool:
        clean = True
        for thread in self.threads:
            if thread.state is State.DONE:
                continue
            if thread.state is State.NATIVE or thread is self._stalled_thread():
                self._carriers.abandon(thread.baton)
                clean = False
                continue
            self._unwinding = thread
            thread.baton.pass_on()
            if not self._control.take(UNWIND_SECONDS):
                self._carriers.abandon(thread.baton)
                clean = False
        self._unwinding = None
        return clean

    def _stalled_thread(self) -> Controlled | None:
        return self._running if self.stalled is not None else None


def where_is(frame: FrameType | None) -> str:
    """Say where a thread is: file and line of its innermost frame outside the harness and the library's locks."""
    while frame is not None and _is_machinery(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return "unknown"
    return f"{_public_path(frame.f_code.co_filename)}:{frame.f_lineno}"


def _public_path(file: str) -> str:
    """A file of ours or below the working directory by its last folder too; any other by its name alone."""
    path = Path(file).resolve()  # a file beside the working directory has its name in front, and `..` behind it
    ours = any(path.is_relative_to(folder) for folder in (Path(__file__).resolve().parents[2], Path.cwd().resolve()))
    return "/".join(path.parts[-2:] if ours else path.parts[-1:])


_EXECUTOR_LOG = logging.getLogger("concurrent.futures")
_MACHINERY = ("/harness/engine/", "/harness/execution/", "/harness/observe/")


def _is_machinery(file: str) -> bool:
    path = file.replace("\\", "/")
    if any(part in path for part in _MACHINERY):
        return True
    return path.endswith(
        ("/threading.py", "/queue.py", "/concurrent/futures/_base.py", "/concurrent/futures/thread.py")
    )


def _due(thread: Controlled) -> tuple[int, int]:
    return (thread.deadline_ns or 0, thread.number)
