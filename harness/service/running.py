"""One run on a slot: from the lease to the outcomes of its tasks."""

from __future__ import annotations

import logging
import threading  # noqa: TID251 - the service owns its locks
from collections.abc import Callable

from harness.service.attempt import Attempt, attempt
from harness.service.clock import monotonic
from harness.service.deadlines import Deadlines
from harness.service.errors import RunAbortedError
from harness.service.health import Health
from harness.service.observer import NullObserver, Observer, heard
from harness.service.outputs import for_one_caller
from harness.service.recorder import Recorder
from harness.service.recoveries import Recoveries
from harness.service.run import Run
from harness.service.slot import Doubt, Slot, doubt_after

__all__ = ["Runner", "deliver", "guarded"]

_LOGGER = logging.getLogger(__name__)
_SOUND = Doubt.NONE
_SAMPLE = 16  # a slot's first run is timed and every 16th after it: a clock read is not free


class Runner:
    """Runs what a worker took, on that worker.

    `late_results` counts results that nobody waited for any more; `seconds` is how long runs took lately, None before
    the first has ended.
    """

    def __init__(
        self,
        lock: threading.RLock,
        deadlines: Deadlines,
        health: Health,
        observer: Observer,
        recorder: Recorder,
        recoveries: Recoveries,
    ) -> None:
        self.late_results = 0
        self.seconds: float | None = None
        self._lock = lock
        self._arrived = threading.Condition(lock)
        self._deadlines, self._health, self._observer = deadlines, health, observer
        self._recorder, self._ring = recorder, recorder.ring
        self._recoveries = recoveries
        self._told = type(observer) is not NullObserver  # what nobody hears is not said: it is, for every task

    def run(self, slot: Slot, run: Run) -> Doubt:
        """Run, give every task its outcome, call back, and say what is known of the session afterwards."""
        if self._told:
            self._observer.leased(
                slot.number, run.futures[0] if run.live == len(run.futures) else run.first_live() or run.futures[0]
            )
        slot.outcome = outcome = self._attempt(slot, run)
        if run.budget is not None:
            self._within_budget(slot, run)
        if self._ring is not None:
            self._write_stages(slot, run)
        if self._told:
            self._observer.returned(slot.number)
        if run.finish is not None and run.live:
            slot.outcome = outcome = _finished(run.finish, outcome)
        if run.timed:  # the clock may not have come to it: native code may have kept every thread from running
            self._expire_due(run)
        doubt = _SOUND if outcome[1] is None else self._failed(slot, run, outcome[1])
        if not deliver(slot):
            doubt = max(doubt, self._came_late(slot, run, outcome))
        return doubt if slot.recovery is None else self._recovers(slot, doubt)

    def interrupt_ended(self) -> None:
        """An interrupt has arrived. Under the lock."""
        self._arrived.notify_all()

    def _attempt(self, slot: Slot, run: Run) -> Attempt:
        if run.timed:
            self._expire_due(run)
        if run.live == 0:
            return None, None  # its tasks ended since it was taken: the session need not see it
        session = slot.session
        assert session is not None, "only a slot with a session runs"
        slot.runs += 1
        if slot.runs % _SAMPLE != 1:
            return attempt(session, run)
        begun = monotonic()
        outcome = attempt(session, run)
        took = monotonic() - begun
        self.seconds = took if self.seconds is None else 0.75 * self.seconds + 0.25 * took
        return outcome

    def _within_budget(self, slot: Slot, run: Run) -> None:
        """The call has returned: from now on nobody gives it up, and who is at it has done so."""
        with self._lock:
            while run.giving_up:
                self._arrived.wait()  # it sets the clock again: to ask once more
            if run.budget is not None:
                run.budget.cancel()
                run.budget = None
            if run.recovery is not None:
                self._recoveries.returned(slot, run.recovery)

    def _write_stages(self, slot: Slot, run: Run) -> None:
        assert self._ring is not None, "only where there is a ring"
        now = monotonic()
        for each in run.futures:
            self._ring.put((each.number, slot.number, each.accepted_at, each.started_at, now))

    def _failed(self, slot: Slot, run: Run, error: Exception) -> Doubt:
        doubt = doubt_after(error)
        if doubt is Doubt.UNKNOWN:
            self._recoveries.after_error(slot, run, error)
        self._recorder.failed(slot.number, run, error)
        return doubt

    def _recovers(self, slot: Slot, doubt: Doubt) -> Doubt:
        self._recoveries.woken(slot)
        return max(doubt, Doubt.PROOF)

    def _expire_due(self, run: Run) -> None:
        with self._lock:
            self._deadlines.expire_due(run)

    def _came_late(self, slot: Slot, run: Run, outcome: Attempt) -> Doubt:
        with self._lock:
            while run.interrupting:
                self._arrived.wait()  # a late interrupt must not hit the session's next run
            slot.tainted = True
            if outcome[0] is not None:
                self.late_results += 1
                for future in run.futures:
                    heard(self._observer, "ended")(future, "late")
            if run.interrupt_failed:
                return Doubt.UNKNOWN
            return Doubt.NONE if self._health.ok else Doubt.CHECK


def _finished(finish: Callable[[], None], outcome: Attempt) -> Attempt:
    """Journal the end of the run, whatever it was, before anybody sees it."""
    try:
        finish()
    except Exception as error:  # noqa: BLE001 - a task that may run again has not succeeded
        return None, error
    return outcome


def deliver(slot: Slot) -> bool:
    """Give the slot's run its outcome and call back; False if nobody waited for it any more.

    A run that a defect kept from running fails with RunAbortedError.
    """
    run, outcome = slot.run, slot.outcome
    if run is None:
        return True
    if run.budget is not None:
        run.budget.cancel()
    outputs, error = outcome or (None, RunAbortedError("the worker stopped before the task ran"))
    if len(run.futures) == 1:
        settled = run.futures if run.futures[0].settle(outputs, error) else []
    else:
        settled = [
            each for each in run.futures if each.settle(None if outputs is None else for_one_caller(outputs), error)
        ]
    slot.run = slot.outcome = None  # not before: until then its tasks are live
    for future in settled:
        if future.has_callbacks:
            guarded(future.run_callbacks)
    return bool(settled)


def guarded(call: Callable[[], None]) -> None:
    """Run foreign code on a worker: nothing that it raises may end the worker that others wait for."""
    try:
        call()
    except BaseException as error:  # noqa: BLE001 - as said
        _LOGGER.error("a callback raised %s", type(error).__name__)  # noqa: TRY400 - its traceback is the client's
