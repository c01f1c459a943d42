"""The kernel of one controlled execution: drives the scheduler from a thread that is not controlled."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from harness.engine.native_calls import NativeCalls
from harness.engine.threads import Controlled, ExecutionAbortedError, State
from harness.engine.where import place_of

__all__ = ["Kernel", "Stalled"]

STALL_SECONDS = 5.0
"""Real time without a decision point, outside native calls, after which a thread counts as escaped from control."""
STALL_LOOKS = 5
"""How often the kernel looks in that time."""
UNWIND_SECONDS = 2.0
"""Real time that an aborted thread gets to unwind before its carrier is given up."""
_EXECUTOR_LOG = logging.getLogger("concurrent.futures")


class Stalled:
    """A thread that ran on without reaching a decision point: where it was seen."""

    def __init__(self, thread: str, where: str) -> None:
        self.thread = thread
        self.where = where


class Kernel(NativeCalls):
    """Runs one execution. Made and driven on a thread that is not controlled.

    `stalled` names a thread that left control; the execution is over then.
    """

    stalled: Stalled | None = None

    def go(self) -> None:
        """Run until nobody can move and no timer is pending, the limit is reached, or a thread stalls."""
        self.rounds += 1
        self.spinning = ()
        self.observed()  # whoever spins may find that something changed
        chosen = self._next(None)
        if chosen is None:
            return
        if self.on_switch is not None:
            self.on_switch(None, chosen)
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
                self.stalled = Stalled(running.name, place_of(running.baton.frame()) or "unknown")
                return

    def abort_rest(self) -> bool:
        """Unwind every thread that is left, in turn. False if one of them would not: its carrier is given up."""
        if all(thread.state is State.DONE for thread in self.threads):
            return True
        for thread in self.threads:
            thread.aborted = True
        _EXECUTOR_LOG.disabled = True  # an executor logs whatever ends its worker: here that is we
        hook, sys.unraisablehook = sys.unraisablehook, _all_but_ours(sys.unraisablehook)
        try:
            return self._unwind()
        finally:
            sys.unraisablehook = hook
            _EXECUTOR_LOG.disabled = False

    def forget(self) -> None:
        """Break the cycles of an execution that ended cleanly and of which nothing more is asked.

        What it made is then freed as it is left, and a collection between executions finds next to nothing.
        """
        for thread in self.threads:
            del thread.kernel, thread.baton, thread.thread, thread.joiners
            thread.waits_for = None
        self.threads.clear()

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


def _all_but_ours(hook: Callable[[sys.UnraisableHookArgs], object]) -> Callable[[sys.UnraisableHookArgs], None]:
    """What a finalizer raises is for the hook, unless it came to a decision point of an execution that is over."""

    def hear(unraisable: sys.UnraisableHookArgs) -> None:
        if not isinstance(unraisable.exc_value, ExecutionAbortedError):
            hook(unraisable)

    return hear
