"""order: tasks start in the declared order: first in, first out among equals, and nobody starves.

A task starts at a moment within bounds: where the service tells, at its dequeue, which is told under the service's own
lock; otherwise, with one worker, between the end of that worker's last run and the begin of the task's own. Another
task was passed over if it surely waited through all of that time, started later, and should have come first. Two
submits that overlap have no order, and neither have deadlines whose bounds overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.history import Event
from harness.invariants.index import FOREVER, Index, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "order"
_STRAY = "runs on inputs that nobody submitted hide when tasks started"


class _Start(msgspec.Struct, frozen=True):
    """One task's start: it was chosen at some moment after `after` (a `seq`) and no later than `event`."""

    task: Task
    after: int
    event: Event

    def waited_when(self, other: _Start) -> bool:
        """Whether this task surely waited when `other` was chosen, which started first."""
        end = self.task.submit.end
        chosen_after = max(other.after, other.task.submit.begin.seq)
        return end is not None and end.seq < chosen_after and other.event.seq < self.event.seq


def check(index: Index) -> Judgement:
    """Premise: a task started while another one waited, and one of the two should have come first."""
    order = index.service("order")
    if not isinstance(order, str):
        return NOT_OCCURRED
    starts = _starts(index)
    if not starts:
        return NOT_OCCURRED
    checked = 0
    violations: list[Violation] = []
    for place, chosen in enumerate(starts):
        for passed in starts[place + 1 :]:
            if passed.waited_when(chosen):
                wrong = _comes_first(index, passed.task, chosen.task)
                checked += bool(wrong or _comes_first(index, chosen.task, passed.task))
                violations.extend(_passed_over(passed, chosen, wrong))
    for problem in (*_starved(index, starts), *_younger_replaced(index, starts)):
        checked += 1
        violations.append(problem)
    tells = bool(index.service("tells_dequeue"))
    unknown = _STRAY if not tells and any(run.stray for run in index.runs) else ""
    return Judgement(checked, tuple(violations), unknown)


def _starts(index: Index) -> list[_Start]:
    """The starts in their order; none where nobody can tell the order."""
    if index.service("tells_dequeue") and "dequeue" in index.kinds:
        told = [(task, task.dequeued) for task in index.tasks.values()]
        starts = [_Start(task, event.seq, event) for task, event in told if event is not None]
    elif index.service("workers") == 1:
        starts = [
            _Start(task, _idle_since(index, task), task.runs[0].first) for task in index.tasks.values() if task.runs
        ]
    else:
        return []
    return sorted(starts, key=_seq_of_start)


def _idle_since(index: Index, task: Task) -> int:
    """The end of the run before: what the worker took it took later. Under stress two ends have no order."""
    if not index.controlled:
        return 0
    begun = task.runs[0].first.seq
    return max((run.over for run in index.runs if run.over < begun), default=0)


def _seq_of_start(start: _Start) -> int:
    return start.event.seq


def _comes_first(index: Index, one: Task, other: Task) -> str:
    """Why `one` must start before `other` if both wait; empty where it need not."""
    order = index.service("order")
    if order == "priority" and one.priority != other.priority:
        return "had the higher priority" if one.priority > other.priority and not _lifted(index, other) else ""
    if order == "earliest-deadline" and (one.due or other.due):
        latest = FOREVER if one.due is None else one.due[1]
        earliest = FOREVER if other.due is None else other.due[0]
        return "was due earlier" if latest < earliest and not _lifted(index, other) else ""
    same = one.request_class == other.request_class
    return "had been submitted before" if same and other.key is None and _older(one, other) else ""


def _lifted(index: Index, task: Task) -> bool:
    """Whether a task may start before one that is worth more: by its class's floor, or since equal requests joined."""
    return task.key is not None or index.request_class(task.request_class).floor_percent > 0


def _older(one: Task, other: Task) -> bool:
    end = one.submit.end
    return end is not None and end.seq < other.submit.begin.seq


def _passed_over(passed: _Start, chosen: _Start, why: str) -> Iterator[Violation]:
    if why:
        first, second = passed.task, chosen.task
        events = (first.submit.begin.seq, second.submit.begin.seq, chosen.event.seq, passed.event.seq)
        yield Violation(_ID, f"{second.id} started before {first.id}, which waited and {why}", events)


def _starved(index: Index, starts: list[_Start]) -> Iterator[Violation]:
    """A class with a floor of one start in n that waited through n starts of others."""
    if index.service("order") == "fifo":
        return
    for name, declared in index.classes.items():
        if declared.floor_percent <= 0:
            continue
        window = -(-100 // declared.floor_percent)
        for place in range(len(starts) - window + 1):
            others = starts[place : place + window]
            if _waited_through(name, others, starts[place + window :]):
                message = f"the class {name} waited through {window} starts in a row: its floor is one in {window}"
                yield Violation(_ID, message, tuple(start.event.seq for start in others))
                break


def _waited_through(name: str, others: list[_Start], later: list[_Start]) -> bool:
    if any(start.task.request_class == name for start in others):
        return False
    mine = [start for start in later if start.task.request_class == name]
    return all(any(start.waited_when(other) for start in mine) for other in others)


def _younger_replaced(index: Index, starts: list[_Start]) -> Iterator[Violation]:
    """Replace-oldest replaced one that was not the oldest: an older one of its class waited on, and started later."""
    for task in index.tasks.values():
        if task.outcome != "REPLACED" or index.request_class(task.request_class).overflow != "replace-oldest":
            continue
        seen = task.delivers[0]
        for start in starts:
            older = start.task.request_class == task.request_class and _older(start.task, task)
            if older and start.after > seen.seq:
                message = f"{task.id} was REPLACED while {start.task.id}, which was older, waited"
                yield Violation(_ID, message, (start.task.submit.begin.seq, seen.seq, start.event.seq))
                break


INVARIANT = Invariant(
    id=_ID,
    statement="Tasks start in the declared order, first in, first out among equals, and nobody starves.",
    check=check,
)
