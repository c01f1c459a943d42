"""output-owned: a delivered output never changes later."""

from __future__ import annotations

from harness.invariants.index import Index
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]


def check(index: Index) -> Judgement:
    """Premise: a delivered output was digested again later."""
    rechecks = index.of("output-rechecked")
    if not rechecks:
        return NOT_OCCURRED
    violations = [
        Violation("output-owned", f"the output of {event.task} changed after it was delivered", (event.seq,))
        for event in rechecks
        if not event.attrs["same"]
    ]
    return Judgement(len(rechecks), tuple(violations))


INVARIANT = Invariant(id="output-owned", statement="A delivered output never changes later.", check=check)
