"""Does the receipt agree with itself: counts, the verdict, the controls, the seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import UnsetType

from harness.verdict import Verdict, combine
from reports.gate.question import Grounds, Question
from reports.gate.refusal import Code
from reports.schema import ControlEntry, ScenarioEntry

__all__ = ["consistency", "control_surprise", "missing_seeds"]


def consistency(question: Question) -> Grounds:
    """Yield what contradicts the claim that the run passed."""
    yield from _counts(question)
    yield from _interrupted(question)
    yield from _controls(question)
    yield from _verdict(question)


def _counts(question: Question) -> Grounds:
    counted = Counter(entry.verdict for entry in question.receipt.scenarios)
    if {name: count for name, count in question.receipt.counts.items() if count} != dict(counted):
        yield Code.COUNTS_DISAGREE, "the counts do not follow from the scenarios listed: the receipt contradicts itself"


def _interrupted(question: Question) -> Grounds:
    if question.receipt.interrupted:
        yield Code.VERDICT, "the run was interrupted: run the suite to its end"


def _controls(question: Question) -> Grounds:
    for control in question.receipt.controls:
        if reason := control_surprise(control):
            yield Code.VERDICT, f"the control {control.name!r} {reason}: the harness did not see what it must see"


def control_surprise(control: ControlEntry) -> str:
    """Say how a control came out other than expected, empty where it did not (the rule of `Control.as_expected`)."""
    found = control.scenario.verdict
    if found != control.expected:
        return f"came out as {found}, expected {control.expected}"
    tallies = [tally for tally in control.scenario.invariants if tally.id == control.invariant]
    seen = any(
        tally.violated if control.expected == Verdict.FAIL else not isinstance(tally.unknown, UnsetType)
        for tally in tallies
    )
    return f"came out as {found}, but not because of {control.invariant}" if control.invariant and not seen else ""


def _verdict(question: Question) -> Grounds:
    receipt = question.receipt
    computed = _combined(receipt.scenarios)
    surprised = receipt.interrupted or any(map(control_surprise, receipt.controls))
    expected = Verdict.UNKNOWN if computed is Verdict.PASS and surprised else computed
    if receipt.verdict != expected:
        yield Code.VERDICT, f"the verdict is {receipt.verdict[:40]!r}, its scenarios and controls make it {expected}"
    kept = _combined([entry for entry in receipt.scenarios if question.waiver(entry.id) is None])
    if kept is not Verdict.PASS:
        yield Code.VERDICT, f"the run is {kept}, only PASS is a pass: see the scenarios that did not pass"


def _combined(scenarios: Sequence[ScenarioEntry]) -> Verdict:
    known = {str(verdict): verdict for verdict in Verdict}
    # A word that the gate does not know is undecided at best.
    return combine(known.get(entry.verdict, Verdict.UNKNOWN) for entry in scenarios)


def missing_seeds(receipts: Sequence[Question]) -> Grounds:
    """Yield each scenario that passed under fewer seeds than asked, over all receipts that answer the requirement."""
    least = receipts[0].require.distinct_seeds
    seeds: dict[str, set[str]] = {}
    for question in receipts:
        for entry in question.receipt.scenarios:
            if entry.verdict == Verdict.PASS:
                found = seeds.setdefault(entry.id, set())
                found.update(() if isinstance(entry.exploration, UnsetType) else (entry.exploration.seed,))
    for scenario, found in seeds.items():
        if len(found) < least:
            yield (
                Code.SEEDS,
                (
                    f"{scenario!r} was explored under {len(found)} seed(s), the policy asks for {least}: "
                    f"run again with another --seed"
                ),
            )
