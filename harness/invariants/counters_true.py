"""counters-true: what a service counts agrees with what was seen at its clients and at the session seam.

A look takes time, and what goes on meanwhile may be counted or not: every counter has a least and a most. They are one
number where nobody else could move.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.invariants.extents import Extent, Moment, cannot_tell, extents_of, next_rest
from harness.invariants.index import FOREVER, Call, Index, Run, Task, whole
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.invariants.places import Queue, queue_of
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "counters-true"
_NOW = ("waiting", "running", "live_tasks", "buffers", "open_slots")
_ERRORS = frozenset({"EXPIRED", "FAILED"})
_LATE = _ERRORS | {"CANCELLED"}

Bounds = tuple[str, int, int]
"""A counter, and the least and the most that it can be."""


def check(index: Index) -> Judgement:
    """Premise: somebody looked."""
    looks = [call for call in index.calls("look") if call.end is not None]
    if not looks:
        return NOT_OCCURRED
    if unclear := cannot_tell(index):
        return Judgement(0, (), unclear)
    extents = extents_of(index)
    if index.quiescent and all(each.task.delivers or each.task.pending for each in extents if each.task.accepted):
        queue = queue_of(index, whole(index.service("capacity"), -1))
        violations = [violation for look in looks for violation in _Look(index, look, extents, queue).problems()]
        return Judgement(len(looks), tuple(violations))
    return Judgement(0, (), "the execution ended before every outcome could be looked at")


class _Look:
    """One look, and what could be said then."""

    def __init__(self, index: Index, look: Call, extents: list[Extent], queue: Queue) -> None:
        assert look.end is not None, "only looks that ended are judged"
        self.index, self.look, self.end, self.queue = index, look, look.end, queue
        self.moment = Moment(look.begin.seq, look.end.seq)
        self.extents = extents
        self.unseen = 0 if queue.tells else queue.workers  # each may have taken one that it has not bound

    def problems(self) -> Iterator[Violation]:
        """What was not so."""
        told = self.end.attrs
        if told["answer"] == "raised":
            yield self._says(f"a look at the service raised {told['error']}")
            return
        for name, least, most in self._bounds():
            value = told.get(name)
            if isinstance(value, int) and not least <= value <= most:
                so = f"{least}" if least == most else f"{least} to {most}"
                yield self._says(f"the service said {name} {value}, and it was {so}")
        yield from self._inconsistent()
        if "last_error" in told:
            yield from self._wrong_error(told["last_error"])

    def _says(self, message: str) -> Violation:
        return Violation(_ID, message, (self.look.begin.seq, self.end.seq))

    def _bounds(self) -> Iterator[Bounds]:
        closed = self.index.closed_at
        pending = any(each.task.pending for each in self.extents)
        if closed is not None and closed.seq < self.moment.after and not pending:
            yield from ((name, 0, 0) for name in _NOW)
        else:
            yield from self._bounds_now()
        accepted = [each for each in self.extents if each.task.accepted]
        entered = sum(each.entered <= self.moment.after for each in accepted)
        yield "accepted", entered, sum(each.may_enter < self.moment.before for each in self.extents)
        for outcome in ("EXPIRED", "REPLACED"):
            ended = [each for each in self.extents if each.task.outcome == outcome]
            least = sum(each.ended <= self.moment.after for each in ended)
            yield outcome.lower(), least, sum(each.may_end < self.moment.before for each in ended)
        late = [(run, each) for each in self.extents for run in each.task.runs if each.task.outcome in _LATE]
        least = sum(self._was_late(run, each) for run, each in late)
        yield "late_results", least, sum(run.first.seq < self.moment.before for run, _ in late)

    def _bounds_now(self) -> Iterator[Bounds]:
        moment = self.moment
        held = {each.task.id for each in self.extents if each.held(moment)}
        may_live = sum(each.may_enter < moment.before and each.ended > moment.after for each in self.extents)
        yield "live_tasks", len(held), may_live
        stays = (stay for stay in self.queue.stays if stay.surely_through(self.look) and stay.task in held)
        waiting = max(0, len({stay.key or stay.task for stay in stays}) - self.unseen)
        most_waiting = len(self.queue.possibly_waiting(self.look))
        yield "waiting", waiting, most_waiting
        running = sum(each.running(moment) is not None for each in self.extents)
        strays = sum(run.stray and run.first.seq < moment.before and run.over > moment.after for run in self.index.runs)
        most_running = sum(each.may_run(moment) for each in self.extents) + strays
        yield "running", running, min(most_running, max(running, self.queue.workers))
        yield "buffers", self._held(), self._may_be_held() + strays
        yield from self._bounds_of_sessions()

    def _held(self) -> int:
        """How many sets of inputs the service certainly had: equal requests share one where they were joined."""
        running = [each.task for each in self.extents if each.running(self.moment) is not None]
        held = [each.task for each in self.extents if each.held(self.moment)]
        return max(len(running), len({task.key or task.id for task in (*held, *running)}))

    def _may_be_held(self) -> int:
        return sum(each.may_be_held(self.moment) for each in self.extents)

    def _bounds_of_sessions(self) -> Iterator[Bounds]:
        """How many sessions were open, where nobody could move; several slots may share one."""
        events, at = self.index.history.events, self.look.begin.seq
        if at and events[at - 1].kind != "at-rest":
            return
        sessions = self.index.sessions.values()
        opened = sum(
            each.opened is not None and each.opened.answered("ok") and _before(each.opened, at)
            and not any(call.begin.seq < at for call in each.closes)
            for each in sessions
        )  # fmt: skip
        yield "open_slots", min(opened, 1), self.queue.workers if opened else 0

    def _was_late(self, run: Run, each: Extent) -> bool:
        """Whether the run gave its outputs when its task had ended, and its worker has had its turn since."""
        last = run.last
        gave = last.kind == "fetch-end" and last.attrs["answer"] == "ok" and each.task.key is None
        return gave and each.ended < run.last_begin.seq and next_rest(self.index, last.seq) <= self.moment.after

    def _inconsistent(self) -> Iterator[Violation]:
        """What no single moment can have been like, though each number alone could."""
        told = self.end.attrs
        waiting, running = told.get("waiting"), told.get("running")
        if isinstance(waiting, int) and isinstance(running, int):
            least, most = self._held(), self._may_be_held()
            if not least <= waiting + running <= max(most, least):
                yield self._says(
                    f"the service said waiting {waiting} and running {running}, and it had {least} to {most} tasks"
                )

    def _wrong_error(self, told: object) -> Iterator[Violation]:
        after, before = self.moment.after, self.moment.before
        failed = [each for each in self.extents if each.task.outcome in _ERRORS]
        surely = [each for each in failed if each.ended <= after]
        if told is None:
            if surely:
                task = surely[-1].task
                yield self._says(f"the service said that no task had failed, and {task.id} was {task.outcome}")
            return
        newest = max((each.may_end for each in surely), default=-1)
        last = [each for each in failed if each.may_end < before and each.ended >= newest]
        known = {_class(each.task) for each in last} | {None for each in self.extents if _may_have_failed(each.task)}
        if None not in known and told not in known:
            which = " or ".join(sorted(str(name) for name in known)) or "none"
            yield self._says(f"the service said that the last error was {told}, and it was {which}")


def _before(call: Call, at: int) -> bool:
    return (FOREVER if call.end is None else call.end.seq) < at


def _class(task: Task) -> object:
    """The class of the error that a task ended with, None where the history does not say."""
    return task.delivers[0].attrs.get("error")


def _may_have_failed(task: Task) -> bool:
    """Whether a run failed whose task then ended otherwise: both may have happened at once."""
    errors = any(run.last.attrs.get("answer") == "error" for run in task.runs)
    return errors and task.outcome not in _ERRORS


INVARIANT = Invariant(
    id=_ID, statement="What a service counts agrees with what was seen at its clients and at the seam.", check=check
)
