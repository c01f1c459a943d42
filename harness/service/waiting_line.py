"""The bounded line: the runs that were accepted and have not started, and which of them is next."""

from __future__ import annotations

import heapq
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Never

from harness.service.floors import reserve
from harness.service.requests import DEFAULT_CLASS, Ordering, OverflowPolicy, RequestClass
from harness.service.run import Run

__all__ = ["FOREVER", "Lane", "WaitingLine"]

FOREVER = sys.maxsize
"""A number above that of every run."""

Rank = Callable[[Run], float]
"""What decides among the waiting runs, the smallest first; equal ranks go by order of acceptance."""
_RANKS: dict[Ordering, Rank] = {
    Ordering.PRIORITY: lambda run: -run.priority,
    Ordering.EARLIEST_DEADLINE: lambda run: float("inf") if run.due is None else run.due,
}
_SMALL = 64


class Lane:
    """The waiting runs of one request class, in order of acceptance and, where the ordering has ranks, by rank."""

    def __init__(self, request_class: RequestClass, rank: Rank | None) -> None:
        self.request_class = request_class
        self.special = request_class != RequestClass(name=request_class.name, overflow=request_class.overflow)
        """Whether a request of the class has options of its own even where `submit` is given none."""
        self.waiting: OrderedDict[int, Run] = OrderedDict()
        self.by_key: dict[Hashable, Run] = {}
        self.used = 0.0  # starts had, over the weight: fair share's virtual time
        self.rejects = request_class.overflow is OverflowPolicy.REJECT
        self.journalled = request_class.journal
        self.bound = request_class.capacity
        self.ranked = rank is not None
        self._rank = rank
        # Runs that left otherwise than by being taken stay here until they come up or outnumber those that wait.
        self._ranked: list[tuple[float, int]] = []

    def add(self, run: Run) -> None:
        """Append a run; its number is its place among equals."""
        self.waiting[run.number] = run
        if run.key is not None:
            self.by_key[run.key] = run
        if self._rank is not None:
            heapq.heappush(self._ranked, (self._rank(run), run.number))

    def lift(self, run: Run, joined: Run) -> None:
        """A request has joined a run that waits: from now on that is as urgent as the most urgent of its callers.

        It stays so when that caller gives up.
        """
        run.priority = max(run.priority, joined.priority)
        if joined.due is not None and (run.due is None or joined.due < run.due):
            run.due = joined.due
        if self._rank is not None:  # the older entry, which ranks no higher, is skipped once the run has been taken
            heapq.heappush(self._ranked, (self._rank(run), run.number))

    def remove(self, run: Run) -> None:
        """Take out a run that waits."""
        del self.waiting[run.number]
        if run.key is not None and self.by_key.get(run.key) is run:
            del self.by_key[run.key]
        if len(self._ranked) > 2 * len(self.waiting) + _SMALL:
            self._ranked = [entry for entry in self._ranked if entry[1] in self.waiting]
            heapq.heapify(self._ranked)

    def head(self, up_to: int = FOREVER) -> tuple[float, int]:
        """The rank and number of the run that is next in this lane, of those up to a number; there must be one."""
        if self._rank is None:
            return 0.0, next(iter(self.waiting))
        if up_to < FOREVER:
            return min((self._rank(run), number) for number, run in self.waiting.items() if number <= up_to)
        while self._ranked[0][1] not in self.waiting:
            heapq.heappop(self._ranked)
        return self._ranked[0]

    def has(self, up_to: int) -> bool:
        """Whether a run up to this number waits."""
        return bool(self.waiting) and next(iter(self.waiting)) <= up_to

    def oldest(self) -> Run:
        """The run that was accepted first, of those that wait; there must be one."""
        return next(iter(self.waiting.values()))


class WaitingLine:
    """All lanes. Every method is called under the service's lock, but for `has_room`, which is then true of a moment.

    Invariant: `size` is the number of runs in all lanes, and never above `capacity`; each lane keeps its own bound.
    """

    def __init__(self, classes: Sequence[RequestClass], capacity: int, ordering: Ordering) -> None:
        rank = _RANKS.get(ordering)
        named = {each.name: each for each in classes}
        every = [named.get(DEFAULT_CLASS, RequestClass()), *(each for each in classes if each.name != DEFAULT_CLASS)]
        self.lanes = {each.name: Lane(each, rank) for each in every}
        self.size = 0
        self._capacity = capacity
        self._all = list(self.lanes.values())
        self._fair = ordering is Ordering.FAIR_SHARE
        self._choose = self._least_used if self._fair else self._first_ranked
        self._only = self._all[0] if len(self._all) == 1 and rank is None else None
        floors = [0.0 if ordering is Ordering.FIFO else each.floor for each in every]
        self._reserved = [
            (window, rest, lane) for (window, rest), lane in zip(reserve(floors), self._all, strict=True) if window
        ]
        self._starts = 0
        self._used_up_to = 0.0

    def no_lane(self, request_class: str) -> Never:
        """Raise ValueError for the name of a class that there is not."""
        message = f"no request class {request_class!r}: there are {', '.join(self.lanes)}"
        raise ValueError(message)

    def has_room(self, lane: Lane) -> bool:
        """Whether one more run may wait in this lane."""
        return self.size < self._capacity and (lane.bound is None or len(lane.waiting) < lane.bound)

    def add(self, run: Run) -> None:
        """Append a run to its lane, which has room."""
        lane = run.lane
        if self._fair and not lane.waiting:
            # Who had nothing waiting has saved nothing up (Waldspurger and Weihl, Stride Scheduling, 1995).
            lane.used = max(lane.used, self._used_up_to)
        self.size += 1
        if lane.ranked or run.key is not None:
            lane.add(run)
        else:
            lane.waiting[run.number] = run

    def remove(self, run: Run) -> None:
        """Take out a run; nothing happens to one that has been taken."""
        if run.number in run.lane.waiting:
            run.lane.remove(run)
            self.size -= 1

    def runs(self) -> list[Run]:
        """Every run that waits, lane by lane."""
        return [run for lane in self._all for run in lane.waiting.values()]

    def oldest(self) -> int:
        """The number of the run that was accepted first, of those that wait; FOREVER where none does."""
        return min(next(iter(lane.waiting), FOREVER) for lane in self._all)

    def forget_keys(self) -> None:
        """Let no run that waits be joined any more."""
        for lane in self._all:
            lane.by_key.clear()

    def take(self, up_to: int = FOREVER) -> Run:
        """Take out the run that is to start next, of those up to a number; there must be one."""
        self.size -= 1
        only = self._only
        if only is not None and not only.by_key:
            return only.waiting.popitem(last=False)[1]
        lane = self._reserved_lane(up_to) or self._choose(up_to)
        run = lane.waiting[lane.head(up_to)[1]]
        lane.remove(run)
        self._used_up_to = max(self._used_up_to, lane.used)
        lane.used += 1 / lane.request_class.weight
        return run

    def _reserved_lane(self, up_to: int) -> Lane | None:
        number, self._starts = self._starts, self._starts + 1
        for window, rest, lane in self._reserved:
            if number % window == rest and lane.has(up_to):
                return lane
        return None

    def _first_ranked(self, up_to: int) -> Lane:
        return min((lane for lane in self._all if lane.has(up_to)), key=lambda lane: lane.head(up_to))

    def _least_used(self, up_to: int) -> Lane:
        return min((lane for lane in self._all if lane.has(up_to)), key=lambda lane: lane.used)
