"""order: tasks start in the declared order: first in, first out among equals, and nobody starves.

A task starts at a moment within bounds: where the service tells, at its dequeue, which is told under the service's own
lock; otherwise, with one worker, between the end of that worker's last run and the begin of the task's own. Another
task was passed over if it surely waited through all of that time, started later, and should have come first. Two
submits that overlap have no order, and neither have deadlines whose bounds overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from harness.history import Event
from harness.invariants.index import DEFAULT_CLASS, FOREVER, Index, Task
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
    contests, unfair = _shares(index, starts)
    checked += contests
    violations.extend(unfair)
    tells = bool(index.service("tells_dequeue"))
    unknown = _STRAY if not tells and any(run.stray for run in index.runs) else ""
    return Judgement(checked, tuple(violations), unknown)


def _starts(index: Index) -> list[_Start]:
    """The starts in their order; none where nobody can tell the order."""
    if index.service("tells_dequeue") and "dequeue" in index.kinds:
        told = [(task, task.dequeued) for task in index.tasks.values()]
        starts = [_Start(task, event.seq, event) for task, event in told if event is not None]
    elif index.service("workers") == 1:
        begun = [(task, _begun(index, task)) for task in index.tasks.values()]
        starts = [_Start(task, _idle_since(index, event), event) for task, event in begun if event is not None]
    else:
        return []
    return sorted(starts, key=_seq_of_start)


def _begun(index: Index, task: Task) -> Event | None:
    """The begin of the run that answers the task: its own, or that of an equal request which it has joined."""
    if task.runs:
        return task.runs[0].first
    if task.key is None or task.outcome not in {"SUCCEEDED", "FAILED"}:
        return None  # one that was given up waited for no run any more
    runs = (run.first for other in index.tasks.values() if other.key == task.key for run in other.runs)
    return min((first for first in runs if first.seq > task.submit.begin.seq), key=_seq, default=None)


def _idle_since(index: Index, begin: Event) -> int:
    """The end of the run before: what the worker took it took later. Under stress two ends have no order."""
    if not index.controlled:
        return 0
    return max((run.over for run in index.runs if run.over < begin.seq), default=0)


def _seq(event: Event) -> int:
    return event.seq


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


def _shares(index: Index, starts: list[_Start]) -> tuple[int, list[Violation]]:
    """How often two classes surely had tasks waiting at once, and where one had too many of the starts meanwhile.

    Between two classes that both have tasks waiting the starts had, each over its weight, never differ by more than one
    start of either (Goyal, Vin and Cheng, Start-time Fair Queuing, SIGCOMM 1996). Weights are taken relative to the
    smaller one, so that whoever serves whole rounds in turn is fair as well. Floors, joined requests and a switch of
    the model change the shares, so nothing is said where there are any.
    """
    weights = {name: each.weight_percent for name, each in index.classes.items()}
    weights.setdefault(DEFAULT_CLASS, 100)
    bent = any(each.floor_percent for each in index.classes.values()) or bool(index.calls("model-switch"))
    if index.service("order") != "fair-share" or bent or any(start.task.key is not None for start in starts):
        return 0, []
    present = sorted({start.task.request_class for start in starts})
    pairs = [(one, other) for one in present for other in present if one < other]
    found = [_contest(starts, {name: weights.get(name, 100) for name in pair}) for pair in pairs]
    return sum(contests for contests, _ in found), [violation for _, violation in found if violation is not None]


def _contest(starts: list[_Start], weights: Mapping[str, int]) -> tuple[int, Violation | None]:
    """The starts in a row at which both classes had another task waiting; whether they were shared by weight."""
    least = min(weights.values())
    bound = sum(least / weight for weight in weights.values())
    longest = 0
    for first in range(len(starts)):
        had = dict.fromkeys(weights, 0)
        for place in range(first, len(starts)):
            if not all(_waits_beside(name, starts, place) for name in weights):
                break
            name = starts[place].task.request_class
            had |= {name: had[name] + 1} if name in had else {}
            longest = max(longest, place + 1 - first)
            one, other = (had[each] * least / weights[each] for each in weights)
            if abs(one - other) > bound + 1e-9:
                return longest, _unfair(weights, had, starts[first : place + 1])
    return longest, None


def _waits_beside(name: str, starts: list[_Start], place: int) -> bool:
    """Whether a task of the class, other than the one that started then, surely waited at that start."""
    return any(later.task.request_class == name and later.waited_when(starts[place]) for later in starts[place + 1 :])


def _unfair(weights: Mapping[str, int], had: Mapping[str, int], starts: list[_Start]) -> Violation:
    told = " and ".join(f"{name} had {had[name]} with weight {weights[name] / 100:g}" for name in weights)
    message = f"of {len(starts)} starts in a row for which both waited, {told}"
    return Violation(_ID, message, tuple(start.event.seq for start in starts))


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
