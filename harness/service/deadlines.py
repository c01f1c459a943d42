"""What ends a task when its time is up: its own deadline, and the budget of its run."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its locks
from collections.abc import Iterable
from functools import partial

from harness.service.clock import Clock, FollowUp, monotonic
from harness.service.errors import DeadlineExpiredError, RunBudgetError, ServiceError
from harness.service.future import Ended, InferenceFuture, end_all, left_over
from harness.service.observer import Observer, heard
from harness.service.run import Run

__all__ = ["Deadlines"]


class Deadlines:
    """Sets the clock for tasks and runs, and ends those that are due. Done-callbacks then run on the clock's thread.

    Methods are called under the service's lock.
    """

    def __init__(self, lock: threading.RLock, clock: Clock, observer: Observer, run_budget: float | None) -> None:
        self._lock = lock
        self._clock = clock
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

    def begin(self, run: Run) -> None:
        """The run starts: end its tasks when its budget is over."""
        if self.run_budget is not None:
            run.budget = self._clock.at(monotonic() + self.run_budget, partial(self._over_budget, run))

    def expire_due(self, run: Run) -> None:
        """End those of the run's tasks that are due now, although the clock has not come to them yet."""
        now = monotonic()
        follow_up = left_over(self._expired(each for each in run.futures if each.due is not None and each.due <= now))
        if follow_up is not None:
            self._clock.at(0.0, lambda: follow_up)

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

    def _over_budget(self, run: Run) -> FollowUp | None:
        with self._lock:
            return left_over(end_all(run, _over_budget))


def _over_budget() -> ServiceError:
    return RunBudgetError("the run took longer than its budget")
