"""Who waits in the queue, as far as that can be told from outside: the bounds of each task's stay."""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from harness.history import Attr
from harness.invariants.index import FOREVER, Call, Index, Task, whole

__all__ = ["Queue", "Stay", "queue_of"]


class Stay(msgspec.Struct, frozen=True):
    """The bounds of one task's stay in the queue, as `seq`. It surely waits while `entered` <= x < `may_leave`.

    It possibly waits from `may_enter` until `gone`.
    """

    task: str
    may_enter: int
    entered: int
    may_leave: int
    gone: int
    request_class: str = "default"
    key: tuple[str, Attr] | None = None

    def surely_through(self, call: Call) -> bool:
        """Whether it surely waited during a whole call."""
        return call.end is not None and self.entered < call.begin.seq and self.may_leave > call.end.seq


class Queue(msgspec.Struct, frozen=True):
    """What was declared, and the stay of every task that was or may have been accepted.

    `surely` is False where strays hide when a task started. `tells`: the service tells what it takes.
    """

    capacity: int
    workers: int
    tells: bool
    surely: bool
    stays: list[Stay]

    def waiting(self, now: int) -> list[Stay]:
        """Those that surely wait at this moment, one for each key: equal requests that were joined share a place."""
        found: dict[object, Stay] = {}
        for stay in self.stays:
            if stay.entered <= now < stay.may_leave:
                found.setdefault(stay.key or stay.task, stay)
        return list(found.values())

    def possibly_waiting(self, call: Call) -> list[Stay]:
        """The other tasks that may have waited at some moment of a submit."""
        begin, end = call.begin, FOREVER if call.end is None else call.end.seq
        return [
            stay for stay in self.stays if stay.may_enter < end and stay.gone > begin.seq and stay.task != begin.task
        ]


def queue_of(index: Index, capacity: int) -> Queue:
    """Arrange the stays of all tasks."""
    # A service that says it tells and never did is not believed: no worker may then be assumed to hold nothing.
    tells = bool(index.service("tells_dequeue")) and "dequeue" in index.kinds
    surely = tells or not any(run.stray for run in index.runs)
    stays = [
        Stay(
            task=task.id,
            may_enter=task.submit.begin.seq,
            entered=FOREVER if task.submit.end is None else task.submit.end.seq,
            may_leave=_may_leave(index, task, tells=tells) if surely else 0,
            gone=_gone(index, task, tells=tells),
            request_class=task.request_class,
            key=task.key if index.request_class(task.request_class).overflow == "coalesce" else None,
        )
        for task in index.tasks.values()
        if task.accepted or task.submit.end is None
    ]
    return Queue(capacity, whole(index.service("workers"), 1), tells, surely, stays)


def _may_leave(index: Index, task: Task, *, tells: bool) -> int:
    """The first event that may have taken the task out of the queue; 0 if nobody can say when it left."""
    left = FOREVER
    if tells and task.dequeued is not None:
        left = task.dequeued.seq
    elif task.runs:
        left = task.runs[0].first.seq
    elif task.malformed:
        return 0
    for call in task.cancels:
        if call.end is None or call.end.attrs["answer"]:
            left = min(left, call.begin.seq)
    if task.outcome == "CANCELLED":  # a cancel of a task that a close or a switch has ended says True, too
        left = min([left, *(call.begin.seq for call in (*index.closes, *index.calls("model-switch")))])
    left = min(left, _displaced(index, task))
    # It ended without a run that is known to be its own: dropped by a close, or by a worker that could not start.
    return 0 if left == FOREVER and task.delivers else left


def _displaced(index: Index, task: Task) -> int:
    """The first event at which a task that was REPLACED or EXPIRED may have been so."""
    if task.outcome == "REPLACED":
        begun = task.submit.begin.seq
        return min((call.begin.seq for call in index.submits if _may_replace(index, call, task, begun)), default=0)
    if task.outcome == "EXPIRED" and task.due is not None:
        events = index.history.events
        return bisect_left(events, task.due[0], key=lambda event: event.at_ns) if index.controlled else 0
    return FOREVER


def _may_replace(index: Index, call: Call, task: Task, begun: int) -> bool:
    newer = index.tasks[call.begin.task or ""]
    over = FOREVER if call.end is None else call.end.seq
    return newer is not task and newer.request_class == task.request_class and over > begun


def _gone(index: Index, task: Task, *, tells: bool) -> int:
    """The first event after which the task certainly takes no place.

    A cancelled or expired task may keep its place until a worker comes to it, as in a plain `queue.Queue`. A service
    that tells what it takes has no such excuse: it knows what waits. Who was REPLACED was so for the sake of its place.
    """
    gone = FOREVER
    if tells and task.dequeued is not None:
        gone = task.dequeued.seq
    elif task.runs:
        event = task.runs[0].first if index.controlled else task.runs[0].bind_end
        gone = FOREVER if event is None else event.seq
    if task.outcome in {"SUCCEEDED", "FAILED", "REPLACED"} or (tells and task.outcome == "EXPIRED"):
        gone = min(gone, task.delivers[0].seq)
    if tells:
        gone = min([gone, *(call.end.seq for call in task.cancels if call.end and call.end.attrs["answer"])])
    return gone
