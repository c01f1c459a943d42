"""release-after-drain: nothing is released while a native call on it is in flight."""

from __future__ import annotations

from harness.invariants.index import FOREVER, Call, Index, Run
from harness.invariants.judgement import Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]


def check(index: Index) -> Judgement:
    """Premise: a session that had a run is closed."""
    checked = 0
    violations: list[Violation] = []
    for session in index.sessions.values():
        runs = session.runs
        if not runs:
            continue
        for call in session.closes:
            checked += 1
            for run in runs:
                if _overlap(run, call):
                    message = f"session {session.name} was released while {run.what} was running on it"
                    violations.append(Violation("release-after-drain", message, (run.first.seq, call.begin.seq)))
    return Judgement(checked, tuple(violations))


def _overlap(run: Run, close: Call) -> bool:
    closed = FOREVER if close.end is None else close.end.seq
    return run.over > close.begin.seq and closed > run.first.seq


INVARIANT = Invariant(
    id="release-after-drain", statement="Nothing is released while a native call on it is in flight.", check=check
)
