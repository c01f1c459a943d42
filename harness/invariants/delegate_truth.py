"""delegate-truth: a session says which delegate took part and how that was learned; a fallback is declared."""

from __future__ import annotations

from harness.invariants.index import Call, Index
from harness.invariants.judgement import Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "delegate-truth"


def check(index: Index) -> Judgement:
    """Premise: a session opened, or said that it does not. To fall back is the service's choice; to hide it is not."""
    checked = 0
    violations: list[Violation] = []
    for call in index.opens:
        if call.end is None:
            continue
        checked += 1
        if not call.answered("ok"):
            continue
        if message := _undeclared(call):
            violations.append(Violation(_ID, message, (call.begin.seq, call.end.seq)))
    return Judgement(checked, tuple(violations))


def _undeclared(call: Call) -> str:
    if call.end is None:
        return ""
    attrs = call.end.attrs
    if attrs["fallback"] or call.begin.attrs.get("fallback"):
        return ""
    session = call.end.session or call.begin.session
    if attrs["actual"] != attrs["requested"]:
        return f"session {session} asked for {attrs['requested']} and got {attrs['actual']}, undeclared"
    if attrs["evidence"] in {"unknown", ""}:
        return f"session {session} cannot tell whether {attrs['requested']} took part, and declares no fallback"
    return ""


INVARIANT = Invariant(
    id=_ID, statement="What is said to have taken part did part of the work, and a fallback is declared.", check=check
)
