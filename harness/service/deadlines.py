"""What ends a task when its time is up: its own deadline, and the budget of its run."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its locks
from collections.abc import Iterable
from functools import partial

from harness.service.clock import Clock, FollowUp, monotonic
from harness.service.errors import DeadlineExpiredError, RunBudgetError
from harness.service.future import Ended, InferenceFuture, end_all, follow_up, left_over
from harness.service.observer import Observer, heard
from harness.service.recoveries import Recoveries
from harness.service.recovery import Step
from harness.service.run import Run

__all__ = ["Deadlines"]

_ASKED_AGAIN = 3
"""How many times more a runtime is asked to end a call, a run budget apart: the call may never end, and this must."""


class Deadlines:
    """Sets the clock for tasks and runs, and ends those that are due. Done-callbacks then run on the clock's thread.

    Methods are called under the service's lock.
    """

    def __init__(
        self,
        lock: threading.RLock,
        clock: Clock,
        observer: Observer,
        recoveries: Recoveries,
        run_budget: float | None,
    ) -> None:
        self._lock = lock
        self._clock = clock
        self._recoveries = recoveries
        self._tell = heard(observer, "ended")
        self.run_budget = run_budget
        self.expired = 0

    def watch(self, future: InferenceFuture, due: float) -> None:
        """End the task when it is due. A task whose deadline nobody can watch is cancelled, and RuntimeError raised."""
        try:
            future.timer = self._clock.at(due, partial(self._expire, future))
        except RuntimeError:
            future.end(None)
            raise

    def begin(self, run: Run, slot: int) -> None:
        """The run starts on a slot: give it up when its budget is over."""
        if self.run_budget is not None:
            run.budget = self._clock.at(monotonic() + self.run_budget, partial(self._over_budget, run, slot))

    def expire_due(self, run: Run) -> None:
        """End those of the run's tasks that are due now, although the clock has not come to them yet."""
        now = monotonic()
        foreign = left_over(self._expired(each for each in run.futures if each.due is not None and each.due <= now))
        if foreign is not None:
            self._clock.at(0.0, lambda: foreign)

    def _expire(self, future: InferenceFuture) -> FollowUp | None:
        with self._lock:
            return left_over(self._expired([future]))

    def _expired(self, futures: Iterable[InferenceFuture]) -> Ended:
        ended: Ended = []
        for future in futures:
            run = future.run
            if run is not None and future.end(DeadlineExpiredError("the deadline was due")):
                ended.append((future, run))
                self.expired += 1
                self._tell(future, "EXPIRED")
        return ended

    def _over_budget(self, run: Run, slot: int) -> FollowUp | None:
        """Give the run up. The runtime is asked first and with no lock held, then who waits is woken."""
        with self._lock:
            if run.budget is None:
                return None  # its call has returned
            run.giving_up = True
            run.recovery = self._recoveries.after_time_out(slot, run, _over_budget())
            return partial(self._ask, run) if run.ask() else left_over(self._let_go(run))

    def _ask(self, run: Run) -> None:
        ended: Ended = []
        try:
            run.interrupt()
        finally:
            with self._lock:
                self._recoveries.reach(run.recovery, Step.ASK)
                ended = self._let_go(run)
            follow_up(ended)

    def _let_go(self, run: Run) -> Ended:
        self._recoveries.reach(run.recovery, Step.ISOLATE)
        ended = end_all(run, _over_budget)
        self._recoveries.reach(run.recovery, Step.WAKE)
        run.giving_up = False
        run.keeper.interrupt_ended()
        if run.asked:
            self._listen(run, _ASKED_AGAIN)
        return ended

    def _listen(self, run: Run, times: int) -> None:
        """Ask again if the call has not returned by then: a runtime forgets what it was asked before the call began."""
        assert self.run_budget is not None, "a run that was given up had a budget"
        run.budget = self._clock.at(monotonic() + self.run_budget, partial(self._ask_again, run, times))

    def _ask_again(self, run: Run, times: int) -> FollowUp | None:
        with self._lock:
            if run.budget is None:
                return None  # its call has returned
            if times > 1:
                self._listen(run, times - 1)
            if run.interrupting:
                return None  # one is under way; of two the worker would wait for the first alone
            run.interrupt_due = run.interrupting = True
            return run.interrupt


def _over_budget() -> RunBudgetError:
    return RunBudgetError("the run took longer than its budget")
