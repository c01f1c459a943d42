"""Switching the model under load: new tasks get the new version, old ones finish on theirs or are cancelled."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its locks
from abc import abstractmethod
from collections import deque

from adapters.base import Opener
from harness.service.admission import Admission
from harness.service.changeover import Changeover, Phase, SwitchOrder, SwitchPolicy
from harness.service.clock import monotonic
from harness.service.closing import Closing
from harness.service.crew import Crew
from harness.service.errors import ServiceClosedError, SwitchError
from harness.service.future import Ended, follow_up
from harness.service.lifecycle import State
from harness.service.slot import Model
from harness.service.waiting_line import WaitingLine

__all__ = ["Switchable", "Switcher"]


class Switcher:
    """Switches one after the other, in the order of the calls. A call does the waiting; the slots do the work."""

    def __init__(
        self, lock: threading.RLock, crew: Crew, line: WaitingLine, admission: Admission, closing: Closing
    ) -> None:
        self._lock, self._crew, self._line = lock, crew, line
        self._admission, self._closing = admission, closing
        self._queue: deque[object] = deque()

    def switch(self, new: Model, policy: SwitchPolicy, deadline: float | None, order: SwitchOrder) -> None:
        """See `Switchable.switch`. On no thread of the service: it waits for the workers."""
        due = None if deadline is None else monotonic() + deadline
        ticket = object()
        change: Changeover | None = None
        try:
            change = self._begin(ticket, new, order, drops=policy is SwitchPolicy.CANCEL)
            ended = self._open(change, due)
            while ended is not None:
                follow_up(ended)
                ended = self._drain(change, due)
        finally:
            self._end(ticket, change)

    def _begin(self, ticket: object, new: Model, order: SwitchOrder, *, drops: bool) -> Changeover:
        crew = self._crew
        with self._lock:
            self._queue.append(ticket)
            while not self._is_turn(ticket):
                self._raise_if_closed()
                crew.news.wait()
            self._raise_if_closed()
            change = crew.change = Changeover(crew.slots, self._line, crew.model, new, order, drops=drops)
            if order is SwitchOrder.CLOSE_FIRST:
                change.begin_old(self._admission.accepted)
            crew.wake_all()
        return change

    def _is_turn(self, ticket: object) -> bool:
        # One that an exception took its client from may still be settling.
        change = self._crew.change
        return self._queue[0] is ticket and (change is None or change.settled)

    def _open(self, change: Changeover, due: float | None) -> Ended | None:
        """Have the slots open the new model, and let new tasks have it; what that ended is returned, as by `_drain`."""
        with self._lock:
            while not (change.opened or change.error or self._is_closed()):
                if self._is_over(change, due):
                    change.drops = True  # but nothing is lost before the new model has opened
                    self._crew.wake_all()
            if change.opened and not change.error and not self._is_closed():
                return self._commit(change) or self._drain(change, due)
            change.phase = Phase.FAILED
            self._crew.wake_all()
            while not change.settled:
                self._crew.news.wait()
            if change.error is None:
                self._raise_if_closed()
            message = f"the new model did not open ({type(change.error).__name__}); the old one stays"
            raise SwitchError(message) from change.error

    def _commit(self, change: Changeover) -> Ended:
        change.phase = Phase.COMMITTED
        self._crew.model = change.new
        if change.order is SwitchOrder.OPEN_FIRST:
            change.begin_old(self._admission.accepted)
        self._crew.wake_all()
        return change.drop_old() if change.drops else []

    def _drain(self, change: Changeover, due: float | None) -> Ended | None:
        """Wait until old tasks have ended and slots have changed over; what a deadline ended is returned, then None."""
        with self._lock:
            while not change.settled:
                if self._is_over(change, due):
                    change.drops = True
                    self._crew.wake_all()
                    return change.drop_old()
        return None

    def _is_over(self, change: Changeover, due: float | None) -> bool:
        """Wait for news; whether the deadline is over, once."""
        left = None if due is None or change.drops else due - monotonic()
        if left is not None and left <= 0:
            return True
        self._crew.news.wait(left)
        return False

    def _end(self, ticket: object, change: Changeover | None) -> None:
        crew = self._crew
        with self._lock:
            if ticket in self._queue:  # it is not, if an exception took the client before that
                self._queue.remove(ticket)
            if change is not None and change.phase is Phase.OPENING:
                change.phase = Phase.FAILED  # an exception took the client: the slots undo what they have done
            if change is not None and change.settled:
                crew.change = None
            crew.wake_all()

    def _is_closed(self) -> bool:
        return self._closing.state is not State.ACCEPTING

    def _raise_if_closed(self) -> None:
        if self._is_closed():
            message = f"the service is {self._closing.state}"
            raise ServiceClosedError(message)


class Switchable:
    """The public side of it."""

    _switcher: Switcher

    def switch(
        self,
        open_session: Opener,
        *,
        version: str,
        pending: SwitchPolicy = SwitchPolicy.FINISH,
        deadline: float | None = None,
        order: SwitchOrder = SwitchOrder.OPEN_FIRST,
    ) -> None:
        """Go over to another model; returns when every slot has and the last task of the old version has ended.

        Tasks accepted before the call run on the old version, or are CANCELLED if they wait and `pending` or the
        `deadline` in seconds says so; those submitted after it run on the new one; what comes meanwhile gets one or the
        other. `future.model_version` says which. Each slot changes over on its own worker, between two runs, in the
        `order` that memory allows. Calls go one after the other: the last one wins.

        Raises SwitchError where the new model did not open on every slot in use, or on one of the service's own
        threads, and ServiceClosedError; then the old version stays, and no task was lost.
        """
        if self._on_own_thread():
            message = "a switch waits for the workers: not on one of the service's own threads"
            raise SwitchError(message)
        self._switcher.switch(Model(open_session, version), SwitchPolicy(pending), deadline, SwitchOrder(order))

    @abstractmethod
    def _on_own_thread(self) -> bool:
        """Whether the caller is one of the service's own threads."""
