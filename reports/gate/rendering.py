"""A decision as the text that the command line prints."""

from __future__ import annotations

from collections.abc import Iterator

from reports.escape import plain_text
from reports.gate.decision import Decision
from reports.gate.refusal import Refusal

__all__ = ["render"]


def render(decision: Decision) -> str:
    """The answer first, then every requirement with its refusals, then what a person should look at."""
    return "\n".join(plain_text(line) for line in _lines(decision)) + "\n"


def _lines(decision: Decision) -> Iterator[str]:
    seen = f"{_count(len(decision.models), 'model')}, {_count(len(decision.receipts), 'receipt')} believed"
    yield f"{_headline(decision)}  policy {decision.policy}, {seen}"
    yield from _refusals([refusal for refusal in decision.refusals if not refusal.requirement])
    for answer in decision.requirements:
        state = "satisfied" if answer.satisfied else "NOT satisfied"
        runs = f" by {', '.join(answer.runs)}" if answer.satisfied else ""
        yield f"  require {answer.requirement}: {state}{runs}"
        yield from _refusals([refusal for refusal in decision.refusals if refusal.requirement == answer.requirement])
    for waiver in decision.waivers:
        yield (
            f"  WAIVED {waiver.scenario} ({waiver.verdict}) in {waiver.run_id}, "
            f"by {waiver.approver} until {waiver.until}: {waiver.reason}"
        )
    for receipt in decision.receipts:
        if not receipt.answers:
            yield f"  {receipt.name} answers no requirement and changed nothing"
        if receipt.attempt > 1:
            yield f"  {receipt.name} is attempt {receipt.attempt}: look at what the attempts before it found"
    if decision.advisory:
        yield "  advisory: the exit code is 0 whatever was decided"


def _headline(decision: Decision) -> str:
    return f"WOULD {decision.decision}" if decision.advisory else decision.decision


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _refusals(refusals: list[Refusal]) -> Iterator[str]:
    width = max((len(refusal.code) for refusal in refusals), default=0)
    for refusal in refusals:
        where = f"{refusal.receipt}: " if refusal.receipt else ""
        yield f"    {refusal.code:<{width}}  {where}{refusal.message}"
