"""The core of every service here: one bounded first-in-first-out queue, and workers that each serve one slot."""

from __future__ import annotations

import logging
import threading  # noqa: TID251 - the service owns its threads and locks
from abc import ABC, abstractmethod
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import ClassVar, Self

from adapters.base import Arrays, DelegateInitError, Grain, Opener, Session
from harness.service.attempt import Attempt, attempt, private_copy
from harness.service.config import DelegatePolicy, ServiceConfig
from harness.service.errors import QueueFullError, RunAbortedError, ServiceClosedError, SessionReleaseError
from harness.service.exit_hook import abort_at_exit, forget
from harness.service.future import InferenceFuture

__all__ = ["BoundedService", "ServiceCounters"]

_LOGGER = logging.getLogger(__name__)


class _State(StrEnum):
    OPENING = "opening"  # inside the constructor; nobody outside sees it
    ACCEPTING = "accepting"
    DRAINING = "draining"
    CLOSED = "closed"


_LEAVING = (_State.DRAINING, _State.CLOSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCounters:
    """A consistent snapshot: tasks accepted so far, waiting now; slots open now; fallbacks, failed releases so far."""

    accepted: int
    waiting: int
    open_slots: int
    fallbacks: int
    release_errors: int


class BoundedService(ABC):
    """Accepts tasks into a bounded queue and runs them on worker threads, one per slot.

    A subclass says how a slot gets its session and gives it back; both happen on the slot's worker. The constructor
    opens the slots one after the other and returns when all are open; if one fails it closes what was open, joins the
    workers and raises that slot's error. Workers are daemon threads; a service left open lives until the interpreter
    exits, and is aborted then.

    `submit`, `close`, `counters`, `state` and a future's methods may be called from any thread, but, as with
    `queue.Queue`, not from a signal handler or a finalizer: those may have interrupted the holder of the same lock.
    """

    capabilities: ClassVar[frozenset[str]] = frozenset(
        {"counters", "drain", "fallback", "overflow:reject", "running_cancel", "states", "tells-dequeue"}
    )
    known_bad: ClassVar[bool] = False

    def __init__(self, open_session: Opener, config: ServiceConfig) -> None:
        self.config = config
        self._open_session = open_session
        self._observer = config.observer
        # One lock guards everything below; a future's own lock may be taken under it, never the other way round.
        # Re-entrant only for speed: a Condition learns who owns a plain lock by trying to take it, at every notify.
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        # Holds exactly the tasks that were accepted and have not started: its length is what capacity bounds.
        self._waiting: OrderedDict[InferenceFuture, Arrays] = OrderedDict()
        self._state = _State.OPENING
        self._accepted = self._slots_open = self._fallbacks = 0
        self._release_errors: list[BaseException] = []
        self._threads: list[threading.Thread] = []
        self._open_slots()
        abort_at_exit(self)

    @property
    def _workers(self) -> int:
        return self.config.slots

    @property
    def state(self) -> str:
        """`accepting`, `draining` or `closed`."""
        return self._state.value

    @property
    def fallbacks(self) -> int:
        """How many sessions were opened on the CPU path because their delegate did not start."""
        return self._fallbacks

    def counters(self) -> ServiceCounters:
        """Return a consistent snapshot."""
        with self._lock:
            return ServiceCounters(
                accepted=self._accepted,
                waiting=len(self._waiting),
                open_slots=self._slots_open,
                fallbacks=self._fallbacks,
                release_errors=len(self._release_errors),
            )

    def submit(self, inputs: Arrays) -> InferenceFuture:
        """Accept one task on a private copy of its inputs; never blocks.

        Raises QueueFullError, ServiceClosedError, or ContractError for a value that is not a numpy array. What else the
        model's contract asks is checked by the adapter, and a breach is the task's outcome.
        """
        # Asked without the lock, so that a refusal costs no copy. Each read is true of a moment within this call.
        self._check_room()
        private = private_copy(inputs)
        future = InferenceFuture(self._lock, self._waiting)
        with self._lock:
            self._check_room()
            self._waiting[future] = private
            self._accepted += 1
            self._work.notify()
        return future

    def close(self, *, drain: bool = True) -> None:
        """Refuse new tasks, end those accepted, release the sessions; returns when all of that is done.

        With `drain` every accepted task runs. Without, those that wait are CANCELLED at once, on this thread, and those
        that run complete and are delivered. Any number of threads may close, any number of times; an abort escalates a
        drain under way. On one of the service's own workers (in a done-callback) it asks for closing and returns.

        Raises SessionReleaseError, after everything has been released, if a session did not close cleanly.
        """
        self._begin_closing(drain=drain)
        if threading.current_thread() in self._threads:
            return
        for thread in self._threads:
            thread.join()
        forget(self)
        if self._release_errors:
            cause = self._release_errors[0]
            message = f"{len(self._release_errors)} session(s) did not close cleanly: {type(cause).__name__}"
            raise SessionReleaseError(message) from cause

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def _open_slot(self) -> Session:
        """Return the session that a slot works with. On the slot's worker; its error is the constructor's."""

    @abstractmethod
    def _release_slot(self, session: Session) -> None:
        """Give back what `_open_slot` returned. On the slot's worker, once; its error is `close`'s."""

    def _interruptible(self, session: Session) -> Session | None:
        """Return what a running cancel should interrupt, None for nothing."""
        return None if session.interrupt_grain is Grain.NONE else session

    def _open_by_policy(self) -> Session:
        try:
            return self._open_session()
        except DelegateInitError:
            if self.config.delegate is DelegatePolicy.REQUIRE:
                raise
            session = self._open_session(fallback=True)
        with self._lock:
            self._fallbacks += 1
        return session

    def _check_room(self) -> None:
        if self._state is not _State.ACCEPTING:
            message = f"the service is {self._state}"
            raise ServiceClosedError(message)
        if len(self._waiting) >= self.config.capacity:
            message = f"{self.config.capacity} accepted task(s) wait already"
            raise QueueFullError(message)

    def _open_slots(self) -> None:
        # One after the other: whether a runtime can load twice at once is not assumed, and "the first failure" is one.
        try:
            for slot in range(self._workers):
                self._start_worker(slot)
        except BaseException:
            self._give_up()
            raise
        with self._lock:
            self._change(_State.ACCEPTING)

    def _start_worker(self, slot: int) -> None:
        opened: Future[None] = Future()
        name = f"{type(self).__name__}-{slot}"
        thread = threading.Thread(target=self._serve_slot, args=(slot, opened), name=name, daemon=True)
        thread.start()
        self._threads.append(thread)
        opened.result()

    def _give_up(self) -> None:
        with self._lock:
            self._state = _State.CLOSED
            self._work.notify_all()
        for thread in self._threads:
            thread.join()

    def _change(self, state: _State) -> None:
        self._state = state
        self._observer.state(state.value)

    def _begin_closing(self, *, drain: bool) -> None:
        with self._lock:
            if self._state is _State.ACCEPTING:
                self._change(_State.DRAINING)
                self._work.notify_all()
            dropped = [] if drain else self._drop_waiting()
        for future in dropped:
            future.run_callbacks()

    def _drop_waiting(self) -> list[InferenceFuture]:
        # Under the lock, so that another close() cannot return while one of these has no outcome yet.
        dropped = list(self._waiting)
        self._waiting.clear()
        for future in dropped:
            future.drop()
        return dropped

    def _serve_slot(self, slot: int, opened: Future[None]) -> None:
        try:
            session = self._open_slot()
        except BaseException as error:  # noqa: BLE001 - the constructor raises it
            opened.set_exception(error)
            return
        with self._lock:
            self._slots_open += 1
        opened.set_result(None)
        interruptible = self._interruptible(session)
        try:
            while self._serve_task(slot, session, interruptible):
                pass
        except BaseException:
            # A defect here or in the observer, not a task's failure: no task may wait for a worker that is gone.
            self._begin_closing(drain=False)
            raise
        finally:
            self._leave(self._release(session))

    def _serve_task(self, slot: int, session: Session, interruptible: Session | None) -> bool:
        # One call for each task, so that an idle worker holds no reference to the last one's arrays.
        task = self._next_task(interruptible)
        if task is None:
            return False
        future, inputs = task
        outcome: Attempt = (None, RunAbortedError("the worker stopped before the task ran"))
        try:
            self._observer.leased(slot, future)
            outcome = attempt(session, inputs)
            self._observer.returned(slot)
        finally:
            _deliver(future, outcome)
        return True

    def _next_task(self, interruptible: Session | None) -> tuple[InferenceFuture, Arrays] | None:
        with self._lock:
            while not self._waiting:
                if self._state in _LEAVING:
                    return None
                self._work.wait()
            # Taken and running in one step: a cancel finds the task waiting, and it never starts, or running.
            future, inputs = self._waiting.popitem(last=False)
            future.start(interruptible)
            try:
                # Told after the place is free: `submit` looks at the places without the lock, too.
                self._observer.dequeued(future)
            except BaseException:
                future.settle(None, RunAbortedError("the worker stopped before the task ran"))
                raise
        return future, inputs

    def _release(self, session: Session) -> BaseException | None:
        try:
            self._release_slot(session)
        except BaseException as error:  # noqa: BLE001 - close() raises it, when the other slots have been released too
            _LOGGER.warning("a session did not close cleanly: %s", type(error).__name__)
            return error
        return None

    def _leave(self, release_error: BaseException | None) -> None:
        with self._lock:
            self._slots_open -= 1
            if release_error is not None:
                self._release_errors.append(release_error)
            if self._slots_open == 0 and self._state is _State.DRAINING:
                self._change(_State.CLOSED)


def _deliver(future: InferenceFuture, outcome: Attempt) -> None:
    if not future.settle(*outcome):
        return
    try:
        future.run_callbacks()
    except BaseException as error:  # noqa: BLE001 - a client's callback cannot end the worker that others wait for
        _LOGGER.error("a done-callback raised %s", type(error).__name__)  # noqa: TRY400 - its traceback is the client's
