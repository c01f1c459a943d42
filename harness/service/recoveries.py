"""The recoveries of a service's slots: when one begins, how it goes on, and whom else it concerns."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its locks
from collections import deque
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from adapters.base import RunError, Scope, scope_of
from harness.service.errors import RunBudgetError
from harness.service.observer import Observer, heard
from harness.service.recovery import Recovery, RecoveryRecord, Step
from harness.service.run import Run
from harness.service.slot import UNSOUND, Doubt, Slot, SlotState

__all__ = ["Recoveries"]

P = ParamSpec("P")
R = TypeVar("R")
_KEPT = 8
_EVERY_SESSION = (Scope.DEVICE, Scope.PROCESS)
_SETTLED = (SlotState.READY, SlotState.LOST)


class Recoveries:
    """Takes each step under the service's lock. See `harness.service.recovery` for which thread owns a recovery.

    An alarm puts the sessions of the other slots in doubt: each answers it on its own worker before its next run. A
    failure of the device is one at once, and they rebuild; a time-out is one when its own slot has recovered, where
    there is a health check (`checks`) to ask. `records` are what was collected of the last recoveries.
    """

    def __init__(self, lock: threading.RLock, observer: Observer, *, checks: bool) -> None:
        self.alarms = 0
        self.records: deque[RecoveryRecord] = deque(maxlen=_KEPT)
        self._resets = 0  # the number of the last alarm that no session of before has outlived
        self._lock = lock
        self._checks = checks
        self._tell = heard(observer, "recovery")

    def raised(self) -> int:
        """How many alarms there were."""
        return self.alarms

    def answer(self, slot: Slot) -> Doubt:
        """What the alarms that the slot has not answered say of its session. On its worker."""
        with self._lock:
            doubt = Doubt.UNKNOWN if slot.alarms < self._resets else Doubt.CHECK
            slot.alarms = self.alarms
            return doubt

    def hears(self, call: Callable[P, R]) -> Callable[P, R]:
        """The same call, which opens, checks or releases a session: where it fails of the device, that is an alarm."""

        def heard_call(*args: P.args, **options: P.kwargs) -> R:
            since = self.alarms
            try:
                return call(*args, **options)
            except Exception as error:
                if scope_of(error) is Scope.DEVICE:
                    with self._lock:
                        self._alarm(since)
                raise

        return heard_call

    def after_time_out(self, slot: int, run: Run, error: RunBudgetError) -> Recovery:
        """A run takes too long. On the clock's thread, under the lock."""
        recovery = self._begun(slot, run, error, timed_out=True)
        recovery.reach(Step.MARK)
        return recovery

    def reach(self, recovery: Recovery | None, step: Step) -> None:
        """Take a step of a run that was given up. On the clock's thread."""
        assert recovery is not None, "the run was given up"
        with self._lock:
            recovery.reach(step)

    def returned(self, slot: Slot, recovery: Recovery) -> None:
        """The call of a run that was given up has returned. From here on, all is on the slot's worker."""
        with self._lock:
            slot.recovery = recovery
            recovery.reach(Step.CONFIRM)

    def after_error(self, slot: Slot, run: Run, error: BaseException) -> None:
        """A run has ended with an error that leaves its session in an unknown state; its task does not know yet."""
        with self._lock:
            recovery = slot.recovery
            if recovery is None:
                recovery = slot.recovery = self._begun(slot.number, run, error)
                recovery.reach(Step.MARK)
                recovery.reach(Step.CONFIRM)
            if scope_of(error) in _EVERY_SESSION:
                self._alarm(slot.alarms)

    def woken(self, slot: Slot) -> None:
        """The tasks of the run have their outcomes."""
        with self._lock:
            if slot.recovery is not None and not slot.recovery.has(Step.WAKE):
                slot.recovery.reach(Step.WAKE)

    def unsound(self, slot: Slot) -> None:
        """Nobody may use the session any more."""
        with self._lock:
            if slot.recovery is None:  # no run has failed so that it began: a check said so
                slot.recovery = self._begun(slot.number, None, RunError(UNSOUND, scope=Scope.CONTEXT))
                slot.recovery.reach(Step.MARK)
                slot.recovery.reach(Step.CONFIRM)
            slot.recovery.reach(Step.INVALIDATE)

    def released(self, slot: Slot, error: BaseException | None) -> None:
        """The session was closed, or its close raised. Under the lock, as the next two."""
        recovery = slot.recovery
        assert recovery is not None, "what is released was unsound"
        if error is None:
            recovery.reach(Step.RECLAIM)
        self.records.append(recovery.collect())
        if error is not None:
            self._tell_neighbours(slot, recovery)

    def rebuilt(self, slot: Slot) -> None:
        """The slot has a session again, or will have none, if it was in recovery at all."""
        if slot.recovery is not None and slot.state in _SETTLED:
            slot.recovery.reach(Step.REBUILD)
            self._tell_neighbours(slot, slot.recovery)

    def kept(self, slot: Slot) -> None:
        """The health check vouches for the session."""
        if slot.recovery is not None:
            slot.recovery.reach(Step.KEEP)
            self._tell_neighbours(slot, slot.recovery)

    def _alarm(self, since: int) -> None:
        # What an alarm after `since` put in doubt already fails of what that was raised for: the others know.
        if since >= self._resets:
            self.alarms += 1
            self._resets = self.alarms

    def _begun(self, slot: int, run: Run | None, error: BaseException, *, timed_out: bool = False) -> Recovery:
        task = None if run is None else run.futures[0].task_id
        return Recovery(slot, error, task, self._tell, timed_out=timed_out)

    def _tell_neighbours(self, slot: Slot, recovery: Recovery) -> None:
        slot.recovery = None
        if recovery.timed_out and self._checks:
            slot.alarms += slot.alarms == self.alarms  # it is no neighbour of its own
            self.alarms += 1
        recovery.reach(Step.NEIGHBOURS)
