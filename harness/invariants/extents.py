"""When each task was accepted, started and ended, as far as that can be told from outside: the bounds of each.

For controlled executions: events have one order, and time never goes back in it. A service may count a task as ended
somewhat before anybody has seen it end, and never before whatever ended it began; what the bounds leave open is the
service's to say.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import msgspec

from harness.history import Event
from harness.invariants.index import FOREVER, Index, Run, Task

__all__ = ["Extent", "Moment", "cannot_tell", "extents_of", "moment_at", "next_rest"]


class Moment(msgspec.Struct, frozen=True):
    """A moment that is known by bounds: after the event `after` and before the event `before`, by their `seq`."""

    after: int
    before: int


class Extent(msgspec.Struct, frozen=True):
    """The bounds of one task's life, as `seq`.

    It was accepted between `may_enter` and `entered`. It certainly had not started until `may_start`, and had from
    `started` on; both are FOREVER where it certainly never did. It had no outcome until `may_end`, and had one from
    `ended` on. The service had done with its run by `over`.
    """

    task: Task
    may_enter: int
    entered: int
    may_start: int
    started: int
    may_end: int
    ended: int
    over: int

    def held(self, moment: Moment) -> bool:
        """Whether the service certainly had it then: waiting or running, and without an outcome."""
        return self.entered <= moment.after and self.may_end >= moment.before

    def may_be_held(self, moment: Moment) -> bool:
        """Whether the service may have had it then, or its run."""
        return self.may_enter < moment.before and self.over > moment.after

    def may_run(self, moment: Moment) -> bool:
        """Whether it may have been on a slot then."""
        return self.may_start < moment.before and self.over > moment.after

    def running(self, moment: Moment) -> Run | None:
        """Its run that was certainly in flight then."""
        for run in self.task.runs:
            if run.first.seq <= moment.after and run.over >= moment.before:
                return run
        return None

    def waits(self, moment: Moment) -> bool:
        """Whether it certainly waited for a slot then."""
        return self.held(moment) and self.may_start >= moment.before


def moment_at(index: Index, at_ns: int, *, before: Event) -> Moment:
    """The moment of this time, which came before an event."""
    events = index.history.events
    after = bisect_left(events, at_ns, key=_at) - 1
    following = bisect_right(events, at_ns, key=_at)
    return Moment(
        events[after].seq if after >= 0 else -1,
        min(before.seq, events[following].seq if following < len(events) else FOREVER),
    )


def cannot_tell(index: Index) -> str:
    """Why nothing can be said of looks at a service in this history, empty if it can."""
    if index.several_services:
        return "several services were open in one execution"
    return "" if index.controlled else "only a controlled execution knows what happened while somebody looked"


def _at(event: Event) -> int:
    return event.at_ns


def extents_of(index: Index) -> list[Extent]:
    """The extents of the tasks that were, or may have been, accepted."""
    tells = bool(index.service("tells_dequeue")) and "dequeue" in index.kinds
    return [
        _extent(index, task, tells=tells) for task in index.tasks.values() if task.accepted or task.submit.end is None
    ]


def _extent(index: Index, task: Task, *, tells: bool) -> Extent:
    begun = task.submit.begin.seq
    entered = FOREVER if task.submit.end is None else task.submit.end.seq
    may_start, started = _start(index, task, tells=tells)
    may_end, ended = max(begun, _may_end(index, task)), _ended(index, task)
    return Extent(task, begun, entered, may_start, started, may_end, ended, _over(index, task, ended))


def _start(index: Index, task: Task, *, tells: bool) -> tuple[int, int]:
    if not tells:  # a worker may have had it for a while
        alone = task.runs and task.key is None  # else a run of its input may be for equal requests
        return task.submit.begin.seq, task.runs[0].first.seq if alone else FOREVER
    seen = task.dequeued
    if seen is None:
        return FOREVER, FOREVER
    rested = max((rest.seq for rest in index.rests if rest.seq < seen.seq), default=-1)
    return max(task.submit.begin.seq, rested), seen.seq


def _may_end(index: Index, task: Task) -> int:
    """The last event at which it certainly had not ended; FOREVER if it never did."""
    if task.outcome == "SUCCEEDED":
        # An answer that is shared comes from a run that is another's here; of two runs of one task the first may do.
        return min(run.over for run in task.runs) if task.runs and task.key is None else task.submit.begin.seq
    if task.outcome == "FAILED":
        return _may_fail(index, task)
    if task.outcome == "EXPIRED" and task.due is not None:
        return bisect_left(index.history.events, task.due[0], key=_at) - 1
    if task.outcome == "CANCELLED":
        begins = [call.begin.seq for call in (*task.cancels, *index.closes, *index.calls("model-switch"))]
        return min(begins, default=task.submit.begin.seq)
    if not task.delivers and task.pending is not None:
        return FOREVER
    return task.submit.begin.seq


def _may_fail(index: Index, task: Task) -> int:
    """A run budget fails a task while its call is in flight; otherwise it is the end of the step that failed."""
    if not task.runs or task.key is not None or index.service("run_budget_ms") is not None:
        return task.submit.begin.seq
    failed = [run.last.seq for run in task.runs if run.last.attrs.get("answer") == "error"]
    return min(failed, default=task.submit.begin.seq)


def _ended(index: Index, task: Task) -> int:
    """The first event by which somebody had seen the task end; FOREVER if nobody did."""
    if not task.delivers:
        return FOREVER
    first = task.delivers[0]
    seen = [call.end.seq for call in task.cancels if call.end is not None and call.granted]
    if first.attrs["via"] != "sweep":
        seen.append(first.seq)
    else:  # the sweep comes when all is over
        seen.extend(event.seq for event in index.of("quiescent"))
    if index.closed_at is not None:
        seen.append(index.closed_at.seq)
    return min(seen, default=first.seq)


def _over(index: Index, task: Task, ended: int) -> int:
    """When everybody has had his turn since the last call returned and the outcome was seen."""
    last = max((run.over for run in task.runs), default=-1)
    closed = FOREVER if index.closed_at is None or task.pending is not None else index.closed_at.seq
    return min(closed, next_rest(index, max(last, ended)))


def next_rest(index: Index, since: int) -> int:
    """The first rest after an event; FOREVER if there is none."""
    return min((rest.seq for rest in (*index.rests, *index.of("quiescent")) if rest.seq > since), default=FOREVER)
