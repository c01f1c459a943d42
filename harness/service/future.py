"""The future that a service gives back for an accepted task."""

from __future__ import annotations

import logging
import threading  # noqa: TID251 - the service owns its locks
from collections.abc import MutableMapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Literal, TypeAlias

from adapters.base import Array, Arrays, Session

__all__ = ["CancelKind", "InferenceFuture"]

CancelKind: TypeAlias = Literal["queued", "running"]

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

    `start`, `settle`, `drop` and `run_callbacks` are for the service. Lock order: the service's, then the future's.
    """

    if TYPE_CHECKING:

        def _invoke_callbacks(self) -> None: ...  # the standard library's, absent from its stubs

    def __init__(self, queue_lock: threading.RLock, waiting: MutableMapping[InferenceFuture, Arrays]) -> None:
        super().__init__()
        self._queue_lock = queue_lock
        self._waiting = waiting
        self._session: Session | None = None
        self._interrupting = False
        self._cancel_kind: CancelKind | None = None

    @property
    def cancel_kind(self) -> CancelKind | None:
        """Where the task was when it was cancelled; None if it was not. An abort close cancels `queued` tasks."""
        return self._cancel_kind

    def cancel(self) -> bool:
        """End the task as cancelled, waiting or running, unless it has already ended otherwise.

        True means that the outcome is CANCELLED, now and for good; a second cancel says so too. A waiting task frees
        its place in the queue. A running one keeps its slot and its buffers until the native call has returned, and its
        result is dropped; the session is asked to interrupt the call where it can. Done-callbacks run on this thread.
        """
        with self._queue_lock, self._condition:
            if self._state == _FINISHED:
                return False
            if self._state in _CANCELLED:
                return True
            # Free the place before anybody learns of the outcome: who wakes and submits must not find the queue full.
            self._waiting.pop(self, None)
            self._end_cancelled("queued" if self._state == _PENDING else "running")
            session = self._session
            self._interrupting = session is not None
        try:
            if session is not None:
                self._interrupt(session)
        finally:
            self._invoke_callbacks()
        return True

    def start(self, session: Session | None) -> None:
        """Mark the task running, under the service's lock. A cancel will interrupt `session`, if there is one."""
        with self._condition:
            assert self._state == _PENDING, "a task that waits is pending: cancel takes it out of the queue"
            self._state = _RUNNING
            self._session = session

    def settle(self, outputs: dict[str, Array] | None, error: BaseException | None) -> bool:
        """Give the task its outcome, or return False if it was cancelled while it ran. Runs no callbacks.

        Returns only when no interrupt of this task is under way, so that a late one cannot hit the session's next task.
        """
        with self._condition:
            while self._interrupting:
                self._condition.wait()
            self._session = None
            if self._state != _RUNNING:
                return False
            self._result, self._exception = outputs, error
            self._state = _FINISHED
            for waiter in self._waiters:
                if error is None:
                    waiter.add_result(self)
                else:
                    waiter.add_exception(self)
            self._condition.notify_all()
        return True

    def drop(self) -> None:
        """End a waiting task as cancelled, for an abort close. Under the service's lock. Runs no callbacks."""
        with self._condition:
            assert self._state == _PENDING, "a task that waits is pending: cancel takes it out of the queue"
            self._end_cancelled("queued")

    def run_callbacks(self) -> None:
        """Run the done-callbacks on this thread, after `settle` or `drop`, with no lock held."""
        self._invoke_callbacks()

    def _end_cancelled(self, kind: CancelKind) -> None:
        # The standard library's cancel leaves `wait` asleep until the executor reaches the task (python/cpython 87893).
        self._cancel_kind = kind
        self._state = _CANCELLED_AND_NOTIFIED
        for waiter in self._waiters:
            waiter.add_cancelled(self)
        self._condition.notify_all()

    def _interrupt(self, session: Session) -> None:
        # No lock is held, so a slow interrupt delays nobody but this caller and the slot.
        try:
            session.interrupt()
        except Exception as error:  # noqa: BLE001 - the task is cancelled whatever the runtime answers
            _LOGGER.warning("an interrupt failed with %s; the call runs to its end", type(error).__name__)
        finally:
            with self._condition:
                self._interrupting = False
                # Only the worker can wait here: the future is done, so nobody waits for its outcome any more.
                self._condition.notify_all()
