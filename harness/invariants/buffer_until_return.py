"""buffer-until-return: a time-out, an expiry or a cancel frees no buffer before the native call has returned.

Nobody waits for the task any more, but the runtime still reads its input and writes its output. What can be seen from
outside is the session whose buffers these are: nothing is bound to it, and it is not released, until the call is over.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Event
from harness.invariants.index import Index, Run, Session, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "buffer-until-return"


def check(index: Index) -> Judgement:
    """Premise: while a task's run was in flight the task ended, was cancelled, or a wait for it timed out.

    A session that the runtime lets several threads run keeps its state per call: only its release is judged there.
    """
    checked = 0
    violations: list[Violation] = []
    for session in index.sessions.values():
        for run in session.runs:
            task = index.tasks.get(run.first.task or "")
            given_up = None if task is None else _given_up(index, task, run)
            if given_up is None:
                continue
            checked += 1
            violations.extend(_reused(session, run, given_up))
    return Judgement(checked, tuple(violations)) if checked else NOT_OCCURRED


def _given_up(index: Index, task: Task, run: Run) -> Event | None:
    """The first event that shows that somebody stopped waiting for the task while it ran."""
    signs = [call.end for call in task.cancels if call.end is not None and call.granted]
    signs += [
        call.end for call in index.waits if call.end and call.begin.task == task.id and call.answered("timed-out")
    ]
    signs += task.delivers
    return min((sign for sign in signs if run.first.seq < sign.seq < run.over), key=_seq, default=None)


def _reused(session: Session, run: Run, given_up: Event) -> Iterator[Violation]:
    for other in session.runs:
        if session.exclusive and run.first.seq < other.first.seq < run.over:
            message = f"{other.what} was bound to session {session.name} before the call of {run.what} had returned"
            yield Violation(_ID, message, (run.first.seq, given_up.seq, other.first.seq))
    for close in session.closes:
        if given_up.seq < close.begin.seq < run.over:
            message = f"session {session.name} was released before the call of {run.what} had returned"
            yield Violation(_ID, message, (run.first.seq, given_up.seq, close.begin.seq))


def _seq(event: Event) -> int:
    return event.seq


INVARIANT = Invariant(
    id=_ID,
    statement="A time-out, an expiry or a cancel frees no buffer before the native call has returned.",
    check=check,
)
