"""recovery-order: after a device time-out or a lost session, a service recovers in the one order that is safe.

Mark and stop submitting; ask the runtime to end the call; wait for that or isolate the slot; wake who waits; invalidate
the session; release it once the call has returned; collect what is known; rebuild; look at the neighbours. Judged by
what is seen at the client and at the session seam. Where a service tells its steps, they must be in order, and true.
Steps whose breach another invariant sees in any service are that one's: a session bound again or closed under the call
(`buffer-until-return`, `release-after-drain`), waiters that are not woken (`expires-on-time`, `terminal-once`).
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Event
from harness.invariants.index import FOREVER, NS_PER_MS, Index, Run, Session, Task
from harness.invariants.judgement import Invariant, Judgement
from harness.invariants.lost_session import Lost, lost_sessions
from harness.invariants.told_recovery import told_recoveries
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "recovery-order"


def check(index: Index) -> Judgement:
    """Premise: a run was over its budget or given up, lost its session, or was interrupted; or a service told a step.

    What comes after the call concerns services that rebuild (capability `lifecycle`).
    """
    judged = [[Violation(_ID, says, events) for says, events in told] for told in told_recoveries(index)]
    if index.controlled:  # else the order of what different threads did is not known
        judged.extend(_seen(index))
    return Judgement(len(judged), tuple(violation for each in judged for violation in each))


def _seen(index: Index) -> Iterator[list[Violation]]:
    found = [_interrupt(index, session, event) for session, event in _interrupts(index)]
    for session in index.sessions.values():
        found.extend(_watchdog(index, session, run) for run in session.runs)
        found.extend(_in_vain(index, session, run) for run in session.runs)
    yield from (each for each in found if each is not None)
    if index.service("lifecycle"):
        yield from (_afterwards(index, lost) for lost in lost_sessions(index))


def _interrupts(index: Index) -> Iterator[tuple[Session, Event]]:
    for event in index.of("interrupt"):
        session = index.sessions.get(event.session or "")
        if session is not None:
            yield session, event


def _interrupt(index: Index, session: Session, event: Event) -> list[Violation] | None:
    """An interrupt ends a run that somebody gave up, and no other. None where no known task's run was in flight."""
    run = next((run for run in session.runs if run.first.seq < event.seq < run.over), None)
    task = None if run is None else index.tasks.get(run.first.task or "")
    if run is None or task is None or task.key is not None:
        return None
    if _may_be_given_up(index, task, event) or task.outcome in {"", "SUCCEEDED"}:
        return []
    message = f"session {session.name} was interrupted during the run of {task.id}, which nobody had given up"
    return [Violation(_ID, message, (run.first.seq, event.seq))]


def _may_be_given_up(index: Index, task: Task, now: Event) -> bool:
    closing = any(call.begin.seq < now.seq for call in index.closes)
    return closing or _is_unwanted(task, now) or _budget_may_be_over(index, task, now)


def _is_unwanted(task: Task, now: Event) -> bool:
    cancelled = any(call.begin.seq < now.seq for call in task.cancels)
    return cancelled or (task.due is not None and task.due[0] <= now.at_ns)


def _budget_may_be_over(index: Index, task: Task, now: Event) -> bool:
    """Whether the run's budget may be: it counts from some moment after the submit began."""
    budget = index.service("run_budget_ms")
    return isinstance(budget, int) and task.submit.begin.at_ns + budget * NS_PER_MS <= now.at_ns


def _watchdog(index: Index, session: Session, run: Run) -> list[Violation] | None:
    """What the watchdog did while the call was in flight. None where the run kept to its budget."""
    budget, task = index.service("run_budget_ms"), index.tasks.get(run.first.task or "")
    if not isinstance(budget, int) or task is None or task.key is not None:
        return None
    told = next((each for each in task.delivers if run.first.seq < each.seq < run.over), None)
    if told is not None and task.outcome == "FAILED" and not _may_be_given_up(index, task, told):
        message = f"{task.id} was failed before the budget of its run was over, with its call in flight"
        return [Violation(_ID, message, (run.first.seq, told.seq))]
    due = run.first.at_ns + budget * NS_PER_MS
    rest = next((each for each in index.rests if run.first.seq < each.seq < run.over and each.at_ns >= due), None)
    late = min((each for each in (told, rest) if each is not None), key=_seq, default=None)
    if late is None or not index.service("lifecycle"):
        return None if late is None else []
    return list(_not_asked(index, session, run, task, late))


def _not_asked(index: Index, session: Session, run: Run, task: Task, late: Event) -> Iterator[Violation]:
    opened = session.opened
    if opened is None or opened.end is None or not opened.end.attrs.get("interruptible"):
        return
    # One that came before the bind was meant for this run, too: its time was over then already.
    since = max((other.over for other in session.runs if other.over < run.first.seq), default=0)
    if any(each.session == session.name and since < each.seq < late.seq for each in index.of("interrupt")):
        return
    if late.kind == "deliver":
        message = f"{task.id} was told that its run takes too long before the runtime had been asked to end the call"
    else:
        message = f"the run of {task.id} takes too long, and the runtime was never asked to end the call"
    if late.kind != "deliver" or task.outcome == "FAILED":
        yield Violation(_ID, message, (run.first.seq, late.seq))


def _in_vain(index: Index, session: Session, run: Run) -> list[Violation] | None:
    """A runtime that was asked before the call was bound has forgotten it. None where that did not happen.

    Judged when everybody has come to rest and the call goes on: nobody will ask again.
    """
    bound, task = run.bind_end, index.tasks.get(run.first.task or "")
    if bound is None or task is None or task.key is not None or index.service("run_budget_ms") is not None:
        return None  # with a budget there is somebody who looks at the run once more
    rest = next((each for each in index.rests if bound.seq < each.seq < run.over), None)
    if rest is None:
        return None
    since = max((other.over for other in session.runs if other.over < run.first.seq), default=0)
    asked = [each for each in index.of("interrupt") if each.session == session.name and since < each.seq < rest.seq]
    meant = [each for each in asked if _is_unwanted(task, each)]
    if not meant:
        return None
    if any(each.seq > bound.seq for each in asked):
        return []
    message = f"the runtime was asked to end the run of {task.id} before that was bound, and has forgotten it"
    return [Violation(_ID, message, (meant[0].seq, bound.seq, rest.seq))]


def _afterwards(index: Index, lost: Lost) -> list[Violation]:
    violations = [*_used_again(index, lost), *_opened_too_early(index, lost)]
    if lost.neighbours:
        violations.extend(_not_looked_at(index, lost))
    return violations


def _used_again(index: Index, lost: Lost) -> Iterator[Violation]:
    session = lost.session
    for run in session.runs:
        same = session.exclusive or run.first.thread == lost.run.first.thread
        if run.first.seq > lost.run.over and same and not _vouched(index, session.name, lost, run.first.seq):
            message = f"session {session.name} {lost.how}, and {run.what} was run on it all the same"
            yield Violation(_ID, message, (lost.seen.seq, run.first.seq))
            return


def _vouched(index: Index, session: str, lost: Lost, before: int) -> bool:
    """Whether the health check found the session sound in between."""
    return any(
        event.session == session and lost.run.over < event.seq < before and event.attrs["sound"]
        for event in index.of("health-check")
    )


def _opened_too_early(index: Index, lost: Lost) -> Iterator[Violation]:
    """A device that failed need not have room for a second session, and what the first one holds may be what fails."""
    close = min((call.begin.seq for call in lost.session.closes), default=FOREVER)
    for call in index.opens:
        begin = call.begin
        if begin.thread == lost.run.last.thread and lost.run.over < begin.seq < close != FOREVER:
            message = f"session {lost.session.name} {lost.how}, and another was opened before it was released"
            yield Violation(_ID, message, (lost.seen.seq, begin.seq, close))
            return


def _not_looked_at(index: Index, lost: Lost) -> Iterator[Violation]:
    rebuilt = next(
        (
            call.end
            for call in index.opens
            if call.answered("ok") and call.begin.seq > lost.run.over and call.begin.thread == lost.run.last.thread
        ),
        None,
    )
    if rebuilt is None:
        return
    for session in index.sessions.values():
        opened = session.opened
        if session is lost.session or opened is None or opened.begin.seq > lost.run.first.seq:
            continue  # opened since: the run may have found what had been known before
        run = _next_run(index, session, rebuilt)
        if run is not None and not _looked_at(index, session, lost, run):
            message = (
                f"session {lost.session.name} {lost.how}, and when it had been replaced {run.what} was run on session "
                f"{session.name}, which nobody had looked at"
            )
            yield Violation(_ID, message, (lost.seen.seq, rebuilt.seq, run.first.seq))


def _next_run(index: Index, session: Session, rebuilt: Event) -> Run | None:
    """The first run that was surely begun in the knowledge of what had happened.

    Its worker was busy with another when the session was replaced, or everybody had his turn since.
    """
    for before, run in zip((None, *session.runs), session.runs, strict=False):
        busy = before is not None and rebuilt.seq < before.over < run.first.seq
        if busy or any(rebuilt.seq < rest.seq < run.first.seq for rest in index.rests):
            return run
    return None


def _looked_at(index: Index, session: Session, lost: Lost, run: Run) -> bool:
    return any(
        event.session == session.name and lost.run.over < event.seq < run.first.seq
        for event in index.of("health-check")
    )


def _seq(event: Event) -> int:
    return event.seq


INVARIANT = Invariant(
    id=_ID,
    statement=(
        "After a device time-out or a lost session, a service asks the runtime to stop, waits, wakes, releases, "
        "rebuilds and looks at the neighbours, in this order."
    ),
    check=check,
)
