"""capacity: the queue never holds more than it declares, and a full one answers at once.

No moment of a call is known from outside, only bounds. A task is *surely* waiting from the end of its submit until the
first event that may have taken it away, and *possibly* waiting from the begin of its submit until the first event after
which it is certainly gone. Too many tasks surely waiting at one moment is an overfull queue; too few possibly waiting
during a whole refusal is a refusal though there was room. Everything between the two bounds is allowed: read literally,
the rule flagged a correct queue in 265 of 1,500 executions.

Each worker may hold one task that it took and has not bound, except a worker known to be inside a run. A service that
tells when it takes a task gets no such allowance. Why `seq` is enough: intervals that overlap in pairs have a common
moment, and the end of a submit is ordered with every event that ends a stay (`harness.invariants.index` says which
pairs are).
"""

from __future__ import annotations

import msgspec

from harness.history import Event
from harness.invariants.index import FOREVER, Call, Index, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "capacity"
_STRAY = "runs on inputs that nobody submitted hide when tasks started"


class _Stay(msgspec.Struct, frozen=True):
    """The bounds of one task's stay in the queue, as `seq`. It surely waits while `entered` <= x < `may_leave`."""

    task: str
    may_enter: int
    entered: int
    may_leave: int
    gone: int


class _Queue(msgspec.Struct, frozen=True):
    """What was declared, and the stay of every task that was or may have been accepted.

    `surely` is False where strays hide when a task started.
    """

    capacity: int
    workers: int
    tells: bool
    surely: bool
    stays: list[_Stay]


def check(index: Index) -> Judgement:
    """Premise: a submit found `capacity` tasks waiting, was refused as full, or never returned."""
    capacity = index.service("capacity")
    if not isinstance(capacity, int) or capacity < 0 or _never_full(index, capacity):
        return NOT_OCCURRED
    queue = _queue(index, capacity)
    checked = 0
    violations: list[Violation] = []
    for call in index.submits:
        problem = _judge(index, queue, call)
        if problem is not None:
            violations.append(problem)
        if problem or call.end is None or call.end.attrs.get("refusal") == "full" or _found_full(queue, call):
            checked += 1
    return Judgement(checked, tuple(violations), "" if queue.surely or violations else _STRAY)


def _never_full(index: Index, capacity: int) -> bool:
    """Whether nothing here can matter: too few submits to fill the queue, and none that blocked or was told `full`."""
    if len(index.submits) > capacity or "gate-opened" in index.kinds:
        return False
    return all(call.end is not None and call.end.attrs.get("refusal") != "full" for call in index.submits)


def _queue(index: Index, capacity: int) -> _Queue:
    workers = index.service("workers")
    # A service that says it tells and never did is not believed: no worker may then be assumed to hold nothing.
    tells = bool(index.service("tells_dequeue")) and "dequeue" in index.kinds
    surely = tells or not any(run.stray for run in index.runs)
    stays = [
        _Stay(
            task=task.id,
            may_enter=task.submit.begin.seq,
            entered=FOREVER if task.submit.end is None else task.submit.end.seq,
            may_leave=_may_leave(task, tells=tells) if surely else 0,
            gone=_gone(index, task, tells=tells),
        )
        for task in index.tasks.values()
        if task.accepted or task.submit.end is None
    ]
    return _Queue(capacity, workers if isinstance(workers, int) else 1, tells, surely, stays)


def _may_leave(task: Task, *, tells: bool) -> int:
    """The first event that may have taken the task out of the queue; 0 if nobody can say when it left."""
    if tells and task.dequeued is not None:
        left = task.dequeued.seq
    elif task.runs:
        left = task.runs[0].first.seq
    elif task.malformed:
        return 0
    else:
        left = FOREVER
    for call in task.cancels:
        if call.end is None or call.end.attrs["answer"]:
            left = min(left, call.begin.seq)
    # It ended without a run that is known to be its own: dropped by a close, or by a worker that could not start.
    return 0 if left == FOREVER and task.delivers else left


def _gone(index: Index, task: Task, *, tells: bool) -> int:
    """The first event after which the task certainly takes no place.

    A cancelled task may keep its place until a worker comes to it, as in a plain `queue.Queue`. A service that tells
    what it takes has no such excuse: it knows what waits.
    """
    gone = FOREVER
    if tells and task.dequeued is not None:
        gone = task.dequeued.seq
    elif task.runs:
        event = task.runs[0].first if index.controlled else task.runs[0].bind_end
        gone = FOREVER if event is None else event.seq
    if task.outcome in {"SUCCEEDED", "FAILED"}:
        gone = min(gone, task.delivers[0].seq)
    if tells:
        gone = min([gone, *(call.end.seq for call in task.cancels if call.end and call.end.attrs["answer"])])
    return gone


def _judge(index: Index, queue: _Queue, call: Call) -> Violation | None:
    end = call.end
    if end is None:
        if not index.quiescent:
            return None
        return Violation(_ID, f"submit of {call.begin.task} never returned", (call.begin.seq,))
    if end.attrs["answer"] == "accepted":
        return _overfull(index, queue, end) or _blocked(index, queue, call)
    if end.attrs.get("refusal") == "full":
        return _room(index, queue, call) or _blocked(index, queue, call)
    return _blocked(index, queue, call)


def _overfull(index: Index, queue: _Queue, accepted: Event) -> Violation | None:
    now = accepted.seq
    waiting = [stay for stay in queue.stays if stay.entered <= now < stay.may_leave]
    if len(waiting) <= queue.capacity or len(waiting) <= queue.capacity + _in_hand(index, queue, now):
        return None
    names = ", ".join(stay.task for stay in waiting)
    message = f"{len(waiting)} tasks waited ({names}) in a queue for {queue.capacity}"
    return Violation(_ID, message, tuple(stay.entered for stay in waiting))


def _in_hand(index: Index, queue: _Queue, now: int) -> int:
    """How many tasks workers may hold that they took and have not bound."""
    if queue.tells:
        return 0
    if not index.controlled:
        return queue.workers
    tasks = index.tasks
    running = sum(1 for run in index.runs if run.first.task in tasks and run.first.seq < now < run.over)
    return max(0, queue.workers - running)


def _room(index: Index, queue: _Queue, call: Call) -> Violation | None:
    if call.end is None or any(close.begin.seq < call.end.seq for close in index.closes):
        return None
    possible = _possibly_waiting(queue, call)
    if possible >= queue.capacity:
        return None
    message = (
        f"{call.begin.task} was refused as full with at most {possible} tasks waiting in a queue for {queue.capacity}"
    )
    return Violation(_ID, message, (call.begin.seq, call.end.seq))


def _possibly_waiting(queue: _Queue, call: Call) -> int:
    begin, end = call.begin, FOREVER if call.end is None else call.end.seq
    return sum(1 for stay in queue.stays if stay.may_enter < end and stay.gone > begin.seq and stay.task != begin.task)


def _blocked(index: Index, queue: _Queue, call: Call) -> Violation | None:
    """Whether the submit was waiting inside the service when the harness opened a gate because nobody could move."""
    gates = index.of("gate-opened")
    if not gates or call.end is None or not index.controlled or _possibly_waiting(queue, call) < queue.capacity:
        return None
    if any(event.thread == call.begin.thread for event in index.of("held")):
        return None
    for gate in gates:
        if call.begin.seq < gate.seq < call.end.seq:
            message = f"submit of {call.begin.task} waited until the harness let a held call go"
            return Violation(_ID, message, (call.begin.seq, gate.seq, call.end.seq))
    return None


def _found_full(queue: _Queue, call: Call) -> bool:
    now = call.begin.seq
    return sum(1 for stay in queue.stays if stay.entered < now < stay.may_leave) >= queue.capacity


INVARIANT = Invariant(
    id=_ID,
    statement="Accepted, unstarted tasks stay within the declared capacity, and a full queue answers without blocking.",
    check=check,
)
