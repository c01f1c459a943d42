"""The future that a service gives back for an accepted task."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from adapters.base import Array
from harness.service.clock import Timer
from harness.service.errors import DeadlineExpiredError, ServiceError
from harness.service.run import Run

__all__ = ["Ended", "InferenceFuture", "Place", "end_all", "follow_up", "left_over"]

Place: TypeAlias = Literal["queued", "running"]

Ended: TypeAlias = "list[tuple[InferenceFuture, Run]]"
"""Tasks that were ended from outside their run, each with the run, and whose callbacks are still to be run."""

_LOGGER = logging.getLogger(__name__)
# The standard library's names for a future's states, which its own `wait` and `as_completed` look at.
_PENDING = "PENDING"
_RUNNING = "RUNNING"
_CANCELLED = ("CANCELLED", "CANCELLED_AND_NOTIFIED")
_CANCELLED_AND_NOTIFIED = "CANCELLED_AND_NOTIFIED"
_FINISHED = "FINISHED"


class InferenceFuture(Future[dict[str, Array]]):
    """The outcome of one accepted task: outputs by name, an error, or cancelled.

    It differs from the standard library's future in `cancel`, which also ends a running task and which wakes `wait` and
    `as_completed` in the same call. A time-out of `result` ends that wait only; the task goes on to its outcome.

    The attributes are for reading. `request_class` and `context` are as submitted, `retry_of` is the `task_id` of the
    task that this one repeats. `cancel_kind` and `expired_kind` say where the task was when it was cancelled or its
    deadline was due, `queued` or `running`; None if that did not happen. The methods below `cancel` are the service's.
    """

    if TYPE_CHECKING:
        _done_callbacks: list[Callable[[Self], object]]  # the standard library's, absent from its stubs

    number: int = 0
    request_class: str = "default"
    context: int | None = None
    model_version: str | None = None
    retry_of: str | None = None
    cancel_kind: Place | None = None
    expired_kind: Place | None = None
    due: float | None = None
    accepted_at: float | None = None
    started_at: float | None = None
    timer: Timer | None = None
    run: Run | None = None
    """Until the task has ended: a future that is kept keeps neither the service, nor a session, nor the inputs."""

    @property
    def task_id(self) -> str:
        """The task's name within its service, `n1`, `n2` and so on in order of acceptance; a retry has its own."""
        return f"n{self.number}"

    def cancel(self) -> bool:
        """End the task as cancelled, waiting or running, unless it has already ended otherwise.

        True means that the outcome is CANCELLED, now and for good; a second cancel says so too. A waiting task frees
        its place in the queue. A running one keeps its slot and its buffers until the native call has returned, and its
        result is dropped; the session is asked to interrupt the call where it can. A run that others share goes on for
        them. Done-callbacks run on this thread.
        """
        run = self.run
        if run is None:
            return self._state in _CANCELLED
        with run.keeper.lock:
            ended = self.end(None)
        if ended:
            try:
                if run.finish is not None:
                    run.finish()
            finally:
                follow_up([(self, run)])
        return self._state in _CANCELLED

    def give_up(self, elsewhere: Callable[[Callable[[], None]], object]) -> bool:
        """Cancel, but have `elsewhere` make the interrupt that is due, if one is: it may block, and must be made."""
        run = self.run
        if run is None or run.finish is not None:
            return self.cancel()
        with run.keeper.lock:
            ended = self.end(None)
        if ended:
            if run.interrupt_due:
                elsewhere(run.interrupt)
            self.run_callbacks()
        return self._state in _CANCELLED

    def result(self, timeout: float | None = None) -> dict[str, Array]:
        """Wait for the outcome: outputs, or raise. A time-out, TimeoutError, ends this wait only."""
        try:
            return super().result(timeout)
        except TimeoutError:
            if timeout:  # not a look at how it is
                self._wait_ended()
            raise
        finally:
            del self  # an error's traceback holds this frame, and the future holds the error

    def label(self, request_class: str, context: int | None, retry_of: InferenceFuture | None) -> None:
        """Note what was submitted, before the task is accepted."""
        self.request_class, self.context = request_class, context
        self.retry_of = None if retry_of is None else retry_of.task_id

    def start(self) -> bool:
        """Mark the task running; False if it has ended. Under the service's lock, as is every end of one that waits."""
        if self._state != _PENDING:
            return False
        self._state = _RUNNING
        return True

    def settle(self, outputs: dict[str, Array] | None, error: BaseException | None) -> bool:
        """Give the task the outcome of its run, or return False if it has ended before. Runs no callbacks."""
        condition = self._condition
        condition.acquire()  # `with` would be two more calls in Python, while the client waits
        try:
            if self._state != _RUNNING:
                return False
            self._finish(outputs, error)
        finally:
            condition.release()
        return True

    def end(self, error: ServiceError | None) -> bool:
        """End the task from outside its run, as cancelled or with an error; False if it has ended before.

        Under the service's lock. Runs no callbacks and no interrupt: that is `follow_up`, with no lock held.
        """
        with self._condition:
            run = self.run
            if run is None:
                return False
            place: Place = "queued" if self._state == _PENDING else "running"
            run.keeper.ending(self, place, error)
            # Free the place before anybody learns of the outcome: who wakes and submits must not find the queue full.
            run.desert(waiting=place == "queued")
            if error is not None:
                if isinstance(error, DeadlineExpiredError):
                    self.expired_kind = place
                self._finish(None, error)
                return True
            self.cancel_kind = place
            # The standard library's cancel leaves `wait` asleep until an executor reaches the task (cpython 87893).
            self._end_as(_CANCELLED_AND_NOTIFIED, "add_cancelled")
        return True

    @property
    def has_callbacks(self) -> bool:
        """Whether ending the task calls foreign code."""
        return bool(self._done_callbacks)

    def run_callbacks(self) -> None:
        """Run the done-callbacks on this thread with no lock held, once, after the task has ended.

        What a callback raises is logged by class; what is no Exception is raised again when all of them have run.
        """
        fatal: BaseException | None = None
        for callback in self._done_callbacks:
            try:
                callback(self)
            except BaseException as error:  # noqa: BLE001 - one callback's failure is not the next one's
                _LOGGER.error("a done-callback raised %s", type(error).__name__)  # noqa: TRY400 - its traceback is the client's
                fatal = fatal or (None if isinstance(error, Exception) else error)
        if fatal is not None:
            raise fatal

    def _finish(self, outputs: dict[str, Array] | None, error: BaseException | None) -> None:
        self._result, self._exception = outputs, error
        self._end_as(_FINISHED, "add_result" if error is None else "add_exception")

    def _wait_ended(self) -> None:
        run = self.run
        if run is not None:
            run.keeper.wait_ended(self)

    def _end_as(self, state: str, tell: str) -> None:
        self._state = state
        self.run = None
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        for waiter in self._waiters:
            getattr(waiter, tell)(self)
        self._condition.notify_all()


def end_all(run: Run, error: Callable[[], ServiceError] | None = None) -> Ended:
    """End every task of a run from outside, cancelled or with an error each. Under the service's lock."""
    return [(each, run) for each in run.futures if each.end(None if error is None else error())]


def follow_up(ended: Ended) -> None:
    """Do what the ending of these tasks asks for, with no lock held: interrupt runs nobody waits for, then call back.

    All of it is done, whatever raises; the first error that is no Exception is then raised.
    """
    fatal: BaseException | None = None
    for future, run in ended:
        for step in (run.interrupt, future.run_callbacks):
            try:
                step()
            except BaseException as error:  # noqa: BLE001 - one task's failure is not the next one's
                fatal = fatal or error
    if fatal is not None:
        raise fatal


def left_over(ended: Ended) -> Callable[[], None] | None:
    """What `follow_up` would do, where that calls foreign code; else None. Under the service's lock."""
    foreign = any(run.interrupt_due or future.has_callbacks for future, run in ended)
    return partial(follow_up, ended) if foreign else None
