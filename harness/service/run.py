"""One call of a session, and the tasks that it answers."""

from __future__ import annotations

import logging
import threading  # noqa: TID251 - the service owns its locks
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Protocol

from adapters.base import Arrays, Session
from harness.service.clock import Timer, monotonic
from harness.service.recovery import Recovery
from harness.service.requests import OverflowPolicy

if TYPE_CHECKING:
    from harness.service.errors import ServiceError
    from harness.service.future import InferenceFuture, Place
    from harness.service.waiting_line import Lane

__all__ = ["Keeper", "Run"]

_LOGGER = logging.getLogger(__name__)


class Keeper(Protocol):
    """The service, as its runs and futures know it. Methods are called under `lock`."""

    @property
    def lock(self) -> threading.RLock:
        """The service's lock; a future's own may be taken under it, never the other way round."""
        ...

    def deserted(self, run: Run, *, waiting: bool) -> None:
        """Nobody waits for this run any more: free its place, or count it until its call returns."""

    def ending(self, future: InferenceFuture, place: Place, error: ServiceError | None) -> None:
        """A task is being ended from outside its run; error None is a cancel. Its place or slot is still its own."""

    def wait_ended(self, future: InferenceFuture) -> None:
        """A client's wait timed out. Not under the lock, unlike the others."""

    def interrupt_ended(self) -> None:
        """An interrupt has arrived: a worker may be waiting for that."""


def _positive(seconds: float) -> float:
    if not seconds > 0:
        message = f"a deadline must be above 0 seconds, not {seconds}"
        raise ValueError(message)
    return seconds


class Run:
    """What waits in the line and runs on a slot: private inputs, and the futures that its result goes to.

    Several futures where equal requests share one run, else one. Everything but `inputs` changes under the service's
    lock only. Defaults stand on the class, so that an ordinary run costs no more than it needs.
    """

    priority: int = 0
    due: float | None = None
    key: Hashable = None
    timed: bool = False
    """Whether one of the futures has a deadline."""
    session: Session | None = None
    """What an interrupt goes to, while the run is inside it."""
    budget: Timer | None = None
    """What gives the run up, until its call has returned."""
    recovery: Recovery | None = None
    """Of a run that was given up."""
    giving_up: bool = False
    """Whether the clock's thread is still at it."""
    finish: Callable[[], None] | None = None
    """Tells the journal that a task that must finish has. Called with no lock held."""
    asked: bool = False
    """Whether the runtime was, or is being, asked to end the call."""
    interrupt_due: bool = False
    interrupting: bool = False
    interrupt_failed: bool = False

    inputs: Arrays
    number: int

    def __init__(self, keeper: Keeper, lane: Lane, future: InferenceFuture) -> None:
        self.keeper = keeper
        self.lane = lane
        self.futures = [future]
        self.live = 1  # how many futures have not been ended from outside; at 0 nobody waits for the run
        future.run = self

    def take_options(
        self, deadline: float | None, priority: int | None, key: Hashable, timeout: float | None
    ) -> float | None:
        """Take what was given to `submit`, else what the class says; returns when a wait for a place ends.

        Before the run is anybody else's. Raises ValueError for what the class does not have, TypeError for a bad key.
        """
        future, request = self.futures[0], self.lane.request_class
        blocks = request.overflow is OverflowPolicy.BLOCK
        if timeout is not None and not blocks:
            message = f"a time-out is for a class that blocks, not for {request.name!r}"
            raise ValueError(message)
        if self.lane.journalled and deadline is not None:
            message = f"work that must finish has no deadline, as that of {request.name!r}"
            raise ValueError(message)
        self.priority = request.priority if priority is None else priority
        if request.overflow is OverflowPolicy.COALESCE:
            hash(key)
            self.key = key
        seconds = request.deadline if deadline is None else deadline
        ends = [] if seconds is None else [monotonic() + _positive(seconds)]
        if ends:
            self.due = future.due = ends[0]
            self.timed = True
        patience = request.block_seconds if timeout is None else timeout
        if blocks and patience is not None:
            ends.append(monotonic() + patience)
        return min(ends, default=None)

    def first_live(self) -> InferenceFuture | None:
        """Of the futures that were not ended from outside, the first."""
        return next((each for each in self.futures if each.run is self), None)

    def desert(self, *, waiting: bool) -> None:
        """One of the futures was ended from outside. Under the service's lock."""
        self.live -= 1
        if self.live == 0:
            self.ask()
            self.keeper.deserted(self, waiting=waiting)

    def ask(self) -> bool:
        """Have the next `interrupt` ask the runtime to end the call; False where it was asked or cannot be."""
        if self.asked or self.session is None:
            return False
        self.asked = self.interrupt_due = self.interrupting = True
        return True

    def interrupt(self) -> None:
        """Interrupt the call if that is due, on this thread with no lock held: a slow one delays nobody else."""
        if not self.interrupt_due:
            return
        with self.keeper.lock:
            session, due, self.interrupt_due = self.session, self.interrupt_due, False
        if not due or session is None:
            return
        try:
            self._interrupt(session)
        finally:
            with self.keeper.lock:
                self.interrupting = False
                self.keeper.interrupt_ended()

    def interrupt_bound(self) -> None:
        """Interrupt the call that has just been bound: on its worker, which alone knows that it has."""
        assert self.session is not None, "only what can be interrupted is asked to end"
        self._interrupt(self.session)

    def _interrupt(self, session: Session) -> None:
        failed = True
        try:
            session.interrupt()
            failed = False
        except Exception as error:  # noqa: BLE001 - the tasks have ended whatever the runtime answers
            _LOGGER.warning("an interrupt failed with %s; the call runs to its end", type(error).__name__)
        finally:
            if failed:
                with self.keeper.lock:
                    self.interrupt_failed = True
