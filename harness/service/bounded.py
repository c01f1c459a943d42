"""The core of every service here: a bounded line of accepted tasks, and workers that each serve one slot."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its threads and locks
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from functools import partial
from typing import ClassVar, Self

from adapters.base import Arrays, Grain, Opener, Session
from harness.service.admission import Admission, Turn
from harness.service.attempt import private_copy
from harness.service.clock import Clock, monotonic
from harness.service.closing import Closing
from harness.service.config import DelegatePolicy, Opening, ServiceConfig
from harness.service.crew import Crew
from harness.service.deadlines import Deadlines
from harness.service.errors import ServiceClosedError, ServiceError
from harness.service.exit_hook import abort_at_exit, forget
from harness.service.forked import refuse_in_child
from harness.service.future import InferenceFuture, Place, follow_up
from harness.service.health import Health
from harness.service.introspection import Introspection
from harness.service.journal import enter_journalled
from harness.service.lifecycle import CloseBehaviour, CloseReason, State
from harness.service.observer import heard
from harness.service.recorder import Recorder
from harness.service.recoveries import Recoveries
from harness.service.requests import CAPABILITIES, DEFAULT_CLASS
from harness.service.run import Run
from harness.service.running import Runner
from harness.service.shapes import warmed
from harness.service.slot import Model, SlotSource
from harness.service.switch import Switchable, Switcher
from harness.service.waiting_line import WaitingLine

__all__ = ["BoundedService"]


class BoundedService(Introspection, Switchable, ABC):
    """Accepts tasks into a bounded line and runs them on worker threads, one per slot.

    A subclass says how a slot gets its session and gives it back; both happen on the slot's worker. The constructor
    opens the slots one after the other and returns when all are open; if one fails it closes what was open, joins the
    workers and raises that slot's error. With lazy opening it opens none. The threads are daemons; a service left open
    lives until the interpreter exits, and is aborted then.

    Every public method, and a future's, may be called from any thread, done-callbacks included, but, as with
    `queue.Queue`, not from a signal handler or a finalizer: those may have interrupted the holder of the same lock.
    """

    capabilities: ClassVar[frozenset[str]] = CAPABILITIES
    known_bad: ClassVar[bool] = False

    def __init__(self, open_session: Opener, config: ServiceConfig) -> None:
        self.config = config
        # One lock guards the whole service; a future's own lock may be taken under it, never the other way round. It is
        # public for runs and futures (`harness.service.run.Keeper`).
        # Re-entrant only for speed: a Condition learns who owns a plain lock by trying to take it, at every notify.
        self.lock = threading.RLock()
        name = type(self).__name__
        self._line = WaitingLine(config.classes, config.capacity, config.ordering)
        self._recorder = Recorder(self.lock, config.events, self._line.runs)
        self._observer = observer = self._recorder.observer(config.observer)
        self._clock = Clock(self.lock, f"{name}-clock")
        self._recoveries = Recoveries(self.lock, observer, checks=config.health_check is not None)
        self._deadlines = Deadlines(self.lock, self._clock, observer, self._recoveries, config.run_budget)
        self._admission = Admission(
            self.lock,
            self._line,
            busy_for=self._busy_for,
            may_block=lambda: not self._on_own_thread(),
            tell=heard(observer, "ended"),
        )
        self._health = Health(self._workers, config.abandoned_limit, heard(observer, "health"))
        self._closing = Closing(self.lock, self._line, self._clock, observer, self._reconsider)
        self._runner = Runner(self.lock, self._deadlines, self._health, observer, self._recorder, self._recoveries)
        self._crew = Crew(
            self.lock,
            self._line,
            self._deadlines,
            self._health,
            self._runner,
            self._recoveries,
            self._slot_source(),
            Model(open_session, config.model_version),
            stamps=self._recorder.ring is not None,
            slots=self._workers,
            observer=observer,
            freed=self._admission.room_changed,
            health_changed=self._reconsider,
            broke=partial(self._closing.begin, CloseBehaviour(drain=False), CloseReason.SHUTDOWN),
            last_left=self._closing.last_left,
        )
        self._recorder.slots = self._crew.slots
        self._switcher = Switcher(self.lock, self._crew, self._line, self._admission, self._closing)
        self._open(name)
        abort_at_exit(self)

    def submit(
        self,
        inputs: Arrays,
        *,
        request_class: str = DEFAULT_CLASS,
        deadline: float | None = None,
        priority: int | None = None,
        key: Hashable = None,
        context: int | None = None,
        retry_of: InferenceFuture | None = None,
        timeout: float | None = None,
        payload_ref: str | None = None,
        turn: Turn | None = None,
    ) -> InferenceFuture:
        """Accept one task on a private copy of its inputs; blocks in a `block` class only.

        `deadline`, in seconds from now, and `priority` stand in for the class's own. Of a `coalesce` class, requests
        with equal `key`s share a run. `context` comes back on the future, as does the `retry_of` task's id. `timeout`
        stands in for `block_seconds`. On a thread of the service itself, as in a callback, a `block` class refuses.
        `payload_ref` is what a task that must finish is journalled by. With a `turn` of `take_turn` a `block` class
        never waits: where it is not yet its turn, or there is no place, QueueFullError is raised and the turn is kept.

        Raises QueueFullError, ServiceClosedError, ServiceUnhealthyError, JournalError, ContractError for what is not a
        numpy array, and ValueError for options that the class does not have. A breach of the model's contract is the
        task's outcome.
        """
        lane = self._line.lanes.get(request_class) or self._line.no_lane(request_class)
        self._admission.check(lane)
        future = InferenceFuture()
        run = Run(self, lane, future)
        until = None
        if lane.special or deadline is not None or priority is not None or key is not None or timeout is not None:
            until = run.take_options(deadline, priority, key, timeout)
        if request_class is not DEFAULT_CLASS or context is not None or retry_of is not None:
            future.label(request_class, context, retry_of)
        run.inputs = private_copy(inputs, self.config.shapes)
        if lane.journalled:
            enter_journalled(self.config.journal, payload_ref, run, partial(self._enter, run, future, until, turn))
        else:
            self._enter(run, future, until, turn)
        return future

    def _enter(self, run: Run, future: InferenceFuture, until: float | None, turn: Turn | None) -> None:
        with self.lock:
            displaced = self._admission.enter(run, until, turn)
            if self._recorder.ring is not None:
                future.accepted_at = monotonic()
            if future.due is not None:
                self._deadlines.watch(future, future.due)
            self._crew.wake()
        if displaced:
            follow_up(displaced)

    def take_turn(self, request_class: str, wake: Callable[[], None]) -> Turn:
        """Queue for a place in a `block` class with no thread that waits: `wake` is called when `submit` may do.

        `wake` is called under the service's lock, on any thread, perhaps in vain. A turn is used up by a `submit` that
        accepts; `give_up` must be called in any other case, and may be in any.
        """
        lane = self._line.lanes.get(request_class) or self._line.no_lane(request_class)
        with self.lock:
            return self._admission.take_turn(lane, wake)

    def give_up(self, turn: Turn) -> None:
        """Leave the turn to the next."""
        with self.lock:
            self._admission.give_up(turn)

    def recover(self) -> None:
        """Try again what failed: slots on their fallback their delegate, slots that were lost to open; returns at once.

        Each slot does it on its own worker, between two runs, and a delegate must pass the health check before the
        fallback is given up; an observer hears how it went.
        """
        with self.lock:
            self._crew.recover()

    def close(
        self,
        *,
        drain: bool | None = None,
        deadline: float | None = None,
        reason: CloseReason = CloseReason.SHUTDOWN,
    ) -> None:
        """Refuse new tasks, end those accepted, release the sessions; returns when all of that is done.

        With `drain` every accepted task runs; `deadline` seconds from now, or at once without `drain`, those that wait
        are CANCELLED and those that run complete and are delivered. What is not given is as the configured ClosePolicy
        says for the `reason`; the first reason is kept in `close_reason`. Any number of threads may close, any number
        of times; an abort escalates a drain under way. On one of the service's own threads (in a done-callback) it asks
        for closing and returns. Callbacks of tasks that an abort ends run on this thread, or on the clock's after a
        deadline.

        Raises SessionReleaseError, after everything has been released, if a session did not close cleanly.
        """
        behaviour = self.config.close_policy.behaviour(CloseReason(reason))
        if drain is not None:
            behaviour = CloseBehaviour(drain=drain, deadline=deadline, drop_results=behaviour.drop_results)
        elif deadline is not None:
            behaviour = CloseBehaviour(drain=behaviour.drain, deadline=deadline, drop_results=behaviour.drop_results)
        if self._on_own_thread():
            self._closing.begin(behaviour, CloseReason(reason))
            return
        try:
            self._closing.begin(behaviour, CloseReason(reason))
        finally:
            self._closing.finish()
            forget(self)
        self._closing.raise_release_errors()

    def forked(self) -> None:
        """Refuse everything from now on: this is a forked child. Called by the exit hook alone; takes no lock."""
        running = [run for slot in self._crew.slots if (run := slot.run) is not None]
        refuse_in_child(self, [future for run in (*self._line.runs(), *running) for future in run.futures])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _open_slot(self, opener: Opener, policy: DelegatePolicy) -> tuple[Session, bool]:
        """Return a session for a slot, and whether it is a fallback. On the slot's worker; may be called again."""

    @abstractmethod
    def _release_slot(self, session: Session) -> None:
        """Give back what `_open_slot` returned. On the slot's worker, once for each."""

    @property
    def _workers(self) -> int:
        return self.config.slots

    def _interruptible(self, session: Session) -> Session | None:
        """Return what a running cancel should interrupt, None for nothing."""
        return None if session.interrupt_grain is Grain.NONE else session

    def deserted(self, run: Run, *, waiting: bool) -> None:
        """Nobody waits for this run any more. Under the lock."""
        if waiting:
            self._line.remove(run)
            self._crew.run_removed()
        elif self._health.update(abandoned=1):
            self._reconsider()

    def ending(self, future: InferenceFuture, place: Place, error: ServiceError | None) -> None:
        """A task is being ended from outside. Under the lock."""
        self._recorder.ending(future, place, error)

    def wait_ended(self, future: InferenceFuture) -> None:
        """A client's wait for a task timed out."""
        if self._recorder.ring is not None:
            with self.lock:
                self._recorder.wait_ended(future)

    def interrupt_ended(self) -> None:
        """An interrupt has arrived. Under the lock."""
        self._runner.interrupt_ended()

    def _slot_source(self) -> SlotSource:
        hears, check = self._recoveries.hears, self.config.health_check
        return SlotSource(
            opens=hears(warmed(self._open_slot, self._release_slot, self.config.shapes)),
            releases=hears(self._release_slot),
            interruptible=self._interruptible,
            check=None if check is None else hears(check),
            tell=heard(self._observer, "slot"),
            policy=self.config.delegate,
            alarms=self._recoveries.raised,
        )

    def _open(self, name: str) -> None:
        try:
            self._crew.open(name, lazily=self.config.opening is Opening.LAZY)
        except BaseException:
            with self.lock:
                self._closing.gave_up()
                self._crew.dismiss()
            self._crew.join()
            raise
        self._closing.opened(self._crew)

    def _reconsider(self) -> None:
        """Whether tasks are taken may have changed. Under the lock."""
        if self._closing.state is not State.ACCEPTING:
            self._admission.shut = self._closed_error
        else:
            self._admission.shut = None if self._health.ok else self._health.error
        self._admission.room_changed()

    def _closed_error(self) -> ServiceError:
        return ServiceClosedError(f"the service is {self._closing.state}")

    def _busy_for(self) -> float | None:
        return None if (seconds := self._runner.seconds) is None else seconds / max(1, self._health.usable)

    def _on_own_thread(self) -> bool:
        me = threading.current_thread()
        return me in self._crew.threads or me in self._clock.threads
