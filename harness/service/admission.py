"""Which requests get a place in the line, and what happens where there is none."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its locks
from collections import deque
from collections.abc import Callable

from harness.service.clock import monotonic
from harness.service.errors import QueueFullError, ReplacedError, ServiceError
from harness.service.future import Ended, InferenceFuture, end_all
from harness.service.requests import OverflowPolicy
from harness.service.run import Run
from harness.service.waiting_line import Lane, WaitingLine

__all__ = ["Admission", "Turn"]


class Turn:
    """Somebody's turn among those who wait for a place, without a thread that waits.

    `wake` is called under the service's lock when it is their turn and there is a place, or when there will be none.
    """

    __slots__ = ("lane", "wake")

    def __init__(self, lane: Lane, wake: Callable[[], None]) -> None:
        self.lane, self.wake = lane, wake


class Admission:
    """Gives places in the line by the overflow policy of each class, and numbers tasks as they are accepted.

    `shut` makes the error of a service that takes no tasks at all, and is None while it does. `busy_for` estimates the
    seconds to the next place; `may_block` is False on the service's own threads, which free the places that a blocked
    one would wait for; `tell` hears of tasks that were replaced.
    """

    def __init__(
        self,
        lock: threading.RLock,
        line: WaitingLine,
        *,
        busy_for: Callable[[], float | None],
        may_block: Callable[[], bool],
        tell: Callable[[InferenceFuture, str], object],
    ) -> None:
        self.accepted = self.replaced = 0
        self._tell = tell
        self._line = line
        self.shut: Callable[[], ServiceError] | None = None
        self._busy_for = busy_for
        self._may_block = may_block
        self._room = threading.Condition(lock)
        self._blocked: dict[Lane, deque[object]] = {lane: deque() for lane in line.lanes.values()}
        self._somebody_blocked = 0

    def check(self, lane: Lane) -> None:
        """Raise what a request would be refused with. Without the lock, so that a refusal costs no copy."""
        shut = self.shut  # read once: it may open between two reads
        if shut is not None:
            raise shut()
        if lane.rejects and not self._line.has_room(lane):
            raise self._full(lane)

    def take_turn(self, lane: Lane, wake: Callable[[], None]) -> Turn:
        """Queue behind those who wait for a place; `enter` with it does not wait. Under the lock."""
        turn = Turn(lane, wake)
        self._blocked[lane].append(turn)
        self._somebody_blocked += 1
        return turn

    def give_up(self, turn: Turn) -> None:
        """Leave, if it was not used. Under the lock."""
        queue = self._blocked[turn.lane]
        if turn in queue:
            queue.remove(turn)
            self._somebody_blocked -= 1
            self.room_changed()

    def enter(self, run: Run, until: float | None, turn: Turn | None = None) -> Ended:
        """Put the run in the line, or its task with a run that waits; `until` ends a wait for a place.

        Under the lock, which a wait gives up. Raises QueueFullError, or what `shut` makes.
        """
        if self.shut is not None:
            raise self.shut()
        lane = run.lane
        displaced: Ended = []
        if lane.rejects:
            if not self._line.has_room(lane):
                raise self._full(lane)
        elif self._shares(run):
            return displaced
        else:
            displaced = self._make_room(lane, until, turn)
        self.accepted = run.number = run.futures[0].number = self.accepted + 1
        self._line.add(run)
        return displaced

    def _shares(self, run: Run) -> bool:
        if run.key is None or (shared := run.lane.by_key.get(run.key)) is None:
            return False
        self.accepted += 1
        for future in run.futures:
            future.number, future.run = self.accepted, shared
            shared.futures.append(future)
            shared.live += 1
            shared.timed = shared.timed or run.timed
        shared.lane.lift(shared, run)
        return True

    def _make_room(self, lane: Lane, until: float | None, turn: Turn | None) -> Ended:
        policy = lane.request_class.overflow
        full = not self._line.has_room(lane)
        if policy is OverflowPolicy.BLOCK:
            self._await_room(lane, until, turn)
        elif lane.waiting and (
            policy is OverflowPolicy.KEEP_LATEST or (policy is OverflowPolicy.REPLACE_OLDEST and full)
        ):
            return self._replace(lane.oldest())
        elif full:
            raise self._full(lane)
        return []

    def room_changed(self) -> None:
        """Wake those who wait for a place: one may be free now, or there will be none. Under the lock."""
        if self._somebody_blocked:
            self._room.notify_all()
            for lane, queue in self._blocked.items():
                if self.shut is not None or self._line.has_room(lane):
                    for turn in queue if self.shut is not None else [*queue][:1]:
                        if isinstance(turn, Turn):
                            turn.wake()

    def _replace(self, run: Run) -> Ended:
        ended = end_all(run, _replaced)
        assert self._line.has_room(run.lane), "a replaced task frees a place of its own class"
        for future, _ in ended:
            self.replaced += 1
            self._tell(future, "REPLACED")
        return ended

    def _await_room(self, lane: Lane, until: float | None, turn: Turn | None) -> None:
        # First come, first served within the class; the deque holds those who wait, the first of whom may enter.
        queue = self._blocked[lane]
        if turn is not None:
            if not queue or queue[0] is not turn or not self._line.has_room(lane):
                raise self._full(lane)
            self.give_up(turn)
            return
        if not queue and self._line.has_room(lane):
            return
        if not self._may_block():
            raise self._full(lane)
        ticket = object()
        queue.append(ticket)
        self._somebody_blocked += 1
        try:
            while queue[0] is not ticket or not self._line.has_room(lane):
                left = None if until is None else until - monotonic()
                if left is not None and left <= 0:
                    raise self._full(lane)
                self._room.wait(left)
                if self.shut is not None:
                    raise self.shut()
        finally:
            queue.remove(ticket)
            self._somebody_blocked -= 1
            self.room_changed()

    def _full(self, lane: Lane) -> QueueFullError:
        waiting = len(lane.waiting) if lane.request_class.capacity is not None else self._line.size
        return QueueFullError(f"{waiting} accepted task(s) wait already", self._busy_for())


def _replaced() -> ReplacedError:
    return ReplacedError("a newer task of its class took the place")
