"""The part of fault-contained about other processes: whom a neighbour process was kept from being served by.

A request that waits while a call is held is no harm: a device may take one at a time. After the execution every answer
must be there and right, and so must that to the request which was in flight meanwhile. A fault of scope `device` may
cost a neighbour its request, and its session, but gives it nobody else's outputs.
"""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import Index
from harness.invariants.judgement import Judgement
from harness.verdict import Violation

__all__ = ["judge_elsewhere"]

_RIGHT = frozenset({"match", "unjudged", "waits"})
_WRONG = frozenset({"other", "garbage", "wrong-shape"})
_UNDECIDED = {"late": "answered it late", "lost": "gave no answer that a second one was given"}
_SAYS = {
    "other": "was given another request's outputs",
    "garbage": "was given what is not its own",
    "wrong-shape": "was given what is not its own",
    "silent": "and a second one were not served any more",
    "died": "and a second one died",
}


def judge_elsewhere(index: Index, faults: list[Event], invariant: str) -> Judgement:
    """Premise: a neighbour process was looked at after a fault had struck."""
    violations: list[Violation] = []
    unknown = ""
    checked = 0
    for look in index.of("process-look"):
        before = [fault for fault in faults if fault.seq < look.seq]
        answers = [answer for answer in (look.attrs.get("in_flight"), look.attrs["fresh"]) if answer] if before else []
        checked += len(answers)
        for said in map(str, answers):
            if said in _UNDECIDED:
                unknown = f"another process {_UNDECIDED[said]}: a slow machine may do that"
            elif _is_harm(said, before):
                violations.append(_violation(invariant, before[-1], look, said))
                break
    return Judgement(checked, tuple(violations), unknown)


def _is_harm(answer: str, before: list[Event]) -> bool:
    if answer in _RIGHT:
        return False
    return answer in _WRONG or all(fault.attrs["scope"] != "device" for fault in before)


def _violation(invariant: str, fault: Event, look: Event, answer: str) -> Violation:
    whom = fault.task or fault.session or "the process"
    when = "while a call was held" if look.attrs["moment"] == "held" else "afterwards"
    how = _SAYS.get(answer) or f"failed with {answer.partition(':')[2]}"
    message = (
        f"{fault.attrs['fault']} struck {whom}, with scope {fault.attrs['scope']}, and {when} another process {how}"
    )
    return Violation(invariant, message, (fault.seq, look.seq))
