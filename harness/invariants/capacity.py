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

from collections.abc import Iterator

from harness.history import Event
from harness.invariants.displaced import REPLACING, wrongly_replaced
from harness.invariants.index import DEFAULT_CLASS, NS_PER_MS, Call, Index, whole
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.invariants.places import Queue, Stay, queue_of
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "capacity"
_STRAY = "runs on inputs that nobody submitted hide when tasks started"


def check(index: Index) -> Judgement:
    """Premise: a submit found `capacity` tasks waiting, was refused as full, or never returned; a task was REPLACED."""
    replaced = sum(task.outcome == "REPLACED" for task in index.tasks.values())
    violations = list(wrongly_replaced(index, _ID)) if replaced else []
    capacity = whole(index.service("capacity"), -1)
    if capacity < 0 or _never_full(index, capacity):
        return Judgement(replaced, tuple(violations)) if replaced else NOT_OCCURRED
    queue = queue_of(index, capacity)
    checked = replaced
    for call in index.submits:
        problem = _judge(index, queue, call)
        if problem is not None:
            violations.append(problem)
        if problem or call.end is None or call.end.attrs.get("refusal") == "full" or _found_full(index, queue, call):
            checked += 1
    return Judgement(checked, tuple(violations), "" if queue.surely or violations else _STRAY)


def _never_full(index: Index, capacity: int) -> bool:
    """Whether nothing here can matter: too few submits to fill the queue, and none that blocked or was told `full`."""
    smallest = min([capacity, *(_limit(index, name, capacity) for name in index.classes)])
    if len(index.submits) > min(smallest, _limit(index, DEFAULT_CLASS, capacity)) or index.rests:
        return False
    return all(call.end is not None and call.end.attrs.get("refusal") != "full" for call in index.submits)


def _limit(index: Index, name: str, capacity: int) -> int:
    """How many tasks of a class may wait."""
    declared = index.request_class(name)
    if declared.overflow == "keep-latest":
        return 1
    return capacity if declared.capacity < 0 else declared.capacity


def _judge(index: Index, queue: Queue, call: Call) -> Violation | None:
    end = call.end
    if end is None:
        if not index.quiescent or _may_block(index, call, None):
            return None
        return Violation(_ID, f"submit of {call.begin.task} never returned", (call.begin.seq,))
    if end.attrs["answer"] == "accepted":
        return _overfull(index, queue, end) or _blocked(index, queue, call)
    if end.attrs.get("refusal") == "full":
        return _room(index, queue, call) or _blocked(index, queue, call)
    return _blocked(index, queue, call)


def _class_of(index: Index, call: Call) -> str:
    return index.tasks[call.begin.task or ""].request_class


def _overfull(index: Index, queue: Queue, accepted: Event) -> Violation | None:
    now = accepted.seq
    waiting = queue.waiting(now)
    name = index.tasks[accepted.task or ""].request_class
    of_class = [stay for stay in waiting if stay.request_class == name]
    limit = _limit(index, name, queue.capacity)
    for who, places in ((waiting, queue.capacity), (of_class, limit)):
        if len(who) > places and len(who) > places + _in_hand(index, queue, now):
            names = ", ".join(stay.task for stay in who)
            message = f"{len(who)} tasks waited ({names}) in a queue for {places}"
            return Violation(_ID, message, tuple(stay.entered for stay in who))
    return None


def _in_hand(index: Index, queue: Queue, now: int) -> int:
    """How many tasks workers may hold that they took and have not bound."""
    if queue.tells:
        return 0
    if not index.controlled:
        return queue.workers
    tasks = index.tasks
    running = sum(1 for run in index.runs if run.first.task in tasks and run.first.seq < now < run.over)
    return max(0, queue.workers - running)


def _room(index: Index, queue: Queue, call: Call) -> Violation | None:
    """Whether a refusal as full was wrong: there was room, a waiting task had to give way, or it had to wait."""
    if call.end is None or any(close.begin.seq < call.end.seq for close in index.closes):
        return None
    possible = queue.possibly_waiting(call)
    name = _class_of(index, call)
    of_class = [stay for stay in possible if stay.request_class == name]
    for who, places in ((possible, queue.capacity), (of_class, _limit(index, name, queue.capacity))):
        if len(who) >= places:
            break
    else:
        message = (
            f"{call.begin.task} was refused as full with at most {len(possible)} tasks waiting in a queue for "
            f"{queue.capacity}"
        )
        return Violation(_ID, message, (call.begin.seq, call.end.seq))
    return next(_wrong_for_its_class(index, queue, call, call.end), None)


def _wrong_for_its_class(index: Index, queue: Queue, call: Call, end: Event) -> Iterator[Violation]:
    task = index.tasks[call.begin.task or ""]
    overflow = index.request_class(task.request_class).overflow
    seqs = (call.begin.seq, end.seq)
    stays = [stay for stay in queue.stays if stay.request_class == task.request_class and stay.surely_through(call)]
    if overflow in REPLACING and stays:
        yield Violation(_ID, f"{task.id} was refused as full, and {stays[0].task} waited to be replaced", seqs)
    if overflow == "coalesce" and (joined := _with_key(stays, task.key)) is not None:
        yield Violation(_ID, f"{task.id} was refused as full, and could have joined {joined.task}", seqs)
    if _may_block(index, call, end):
        yield Violation(_ID, f"{task.id} was refused as full before it had waited for a place", seqs)


def _with_key(stays: list[Stay], key: object) -> Stay | None:
    return next((stay for stay in stays if key is not None and stay.key == key), None)


def _may_block(index: Index, call: Call, now: Event | None) -> bool:
    """Whether the submit was still within the time that its class may wait for a place; `now` None is at the end."""
    timeout = call.begin.attrs.get("timeout_ms")
    if not isinstance(timeout, int) or index.request_class(_class_of(index, call)).overflow != "block":
        return False
    return timeout < 0 or (now is not None and now.at_ns < call.begin.at_ns + timeout * NS_PER_MS)


def _blocked(index: Index, queue: Queue, call: Call) -> Violation | None:
    """Whether the submit was waiting inside the service at a moment at which nobody could move."""
    if not index.rests or call.end is None or not index.controlled or not _was_full(index, queue, call):
        return None
    if any(event.thread == call.begin.thread for event in index.of("held")):
        return None
    for rest in index.rests:
        if call.begin.seq < rest.seq < call.end.seq and not _may_block(index, call, rest):
            until = "the harness let a held call go" if rest.kind == "gate-opened" else "nobody could move"
            message = f"submit of {call.begin.task} waited until {until}"
            return Violation(_ID, message, (call.begin.seq, rest.seq, call.end.seq))
    return None


def _was_full(index: Index, queue: Queue, call: Call) -> bool:
    """Whether the submit may have found no place."""
    possible = queue.possibly_waiting(call)
    name = _class_of(index, call)
    of_class = [stay for stay in possible if stay.request_class == name]
    return len(possible) >= queue.capacity or len(of_class) >= _limit(index, name, queue.capacity)


def _found_full(index: Index, queue: Queue, call: Call) -> bool:
    now = call.begin.seq
    waiting = [stay for stay in queue.waiting(now) if stay.entered < now]
    name = _class_of(index, call)
    of_class = [stay for stay in waiting if stay.request_class == name]
    return len(waiting) >= queue.capacity or len(of_class) >= _limit(index, name, queue.capacity)


INVARIANT = Invariant(
    id=_ID,
    statement="Accepted, unstarted tasks stay within the declared capacity, and a full queue answers without blocking.",
    check=check,
)
