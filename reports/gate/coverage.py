"""What was tried and how it came out: the suite, every scenario, every invariant, how many executions."""

from __future__ import annotations

from msgspec import UnsetType

from harness.verdict import Verdict
from reports.digests import suite_digest
from reports.gate.question import Grounds, Question
from reports.gate.refusal import Code
from reports.schema import Invariant, ScenarioEntry

__all__ = ["coverage"]

_KNOWN = frozenset(str(verdict) for verdict in Verdict)


def coverage(question: Question) -> Grounds:
    """Yield what the receipt does not cover."""
    yield from _suite(question)
    yield from _missing(question)
    for scenario in question.receipt.scenarios:
        yield from _scenario(question, scenario)
    yield from _invariants(question)


def _suite(question: Question) -> Grounds:
    suite, asked = question.receipt.suite, question.require.suite
    computed = suite_digest(suite.id, suite.version, ((entry.id, entry.digest) for entry in question.receipt.scenarios))
    if computed != suite.digest:
        yield (
            Code.SUITE_DIGEST,
            "the suite's digest does not follow from the scenarios listed: the receipt contradicts itself",
        )
    if asked.digest not in {None, computed}:
        yield (
            Code.SUITE_DIGEST,
            (
                f"it ran suite {computed[:12]}, the policy pins {str(asked.digest)[:12]}: "
                f"run the whole suite, unchanged, or pin the new one"
            ),
        )


def _missing(question: Question) -> Grounds:
    listed = {entry.id for entry in question.receipt.scenarios}
    for scenario in question.require.scenarios:
        if scenario not in listed:
            yield Code.SCENARIO_MISSING, f"the scenario {scenario!r} was not run: run the suite without --scenario"


def _scenario(question: Question, scenario: ScenarioEntry) -> Grounds:
    if scenario.model != question.testimony.model:
        yield (
            Code.MODEL_DIGEST,
            f"the scenario {scenario.id!r} ran on model {scenario.model[:12]}, not on the receipt's: only controls may",
        )
    if scenario.verdict not in _KNOWN:
        yield (
            Code.UNKNOWN_VERDICT,
            f"{scenario.id!r} came out as {scenario.verdict[:40]!r}, a verdict this gate does not know",
        )
    elif scenario.verdict == Verdict.PASS:
        yield from _passed(question, scenario)
    elif not _excused(question, scenario):
        yield from _not_passed(question, scenario)


def _passed(question: Question, scenario: ScenarioEntry) -> Grounds:
    least = question.require.min_executions_per_scenario
    if not any(tally.checked for tally in scenario.invariants):
        yield Code.INVARIANT, f"{scenario.id!r} passed without having checked anything: no invariant's premise occurred"
    if any(tally.violated for tally in scenario.invariants) or scenario.violations:
        yield Code.VERDICT, f"{scenario.id!r} says PASS and lists violations: the receipt contradicts itself"
    if scenario.executions < least:
        yield (
            Code.TOO_FEW_EXECUTIONS,
            f"{scenario.id!r} had {scenario.executions} executions, the policy asks for {least}: raise the budget",
        )


def _excused(question: Question, scenario: ScenarioEntry) -> bool:
    """Whether a scenario may be without a PASS: not applicable for a reason that the policy accepts, or waived."""
    if question.waiver(scenario.id) is not None:
        return True
    if scenario.id in question.require.scenarios:
        return False  # the policy names it: to leave out the capability that it needs is no way around it
    available = {*question.receipt.service.capabilities, *question.require.capabilities}
    return scenario.verdict == Verdict.NOT_APPLICABLE and bool(set(scenario.requires) - available)


def _not_passed(question: Question, scenario: ScenarioEntry) -> Grounds:
    if scenario.verdict == Verdict.UNKNOWN:
        yield (
            Code.UNKNOWN_VERDICT,
            f"{scenario.id!r} is UNKNOWN, which is not a pass: the report says what could not be judged",
        )
    else:
        yield Code.SCENARIO_NOT_PASSED, f"{scenario.id!r} came out as {scenario.verdict}{_how(scenario)}"
    for waiver in question.loaded.policy.waiver:
        if waiver.scenario == scenario.id:
            other = waiver.model_sha256 not in {None, question.testimony.model}
            why = "is for another model" if other else f"ended on {waiver.until}"
            yield (
                Code.WAIVER,
                f"the waiver of {scenario.id!r} {why}: fix the scenario, or have {waiver.approver} renew it",
            )


def _how(scenario: ScenarioEntry) -> str:
    if scenario.verdict == Verdict.NOT_APPLICABLE:
        return (
            ", although the policy names it, or the service or the policy has every capability that it requires: "
            "do not skip it"
        )
    broken = sorted({entry.invariant for entry in scenario.violations})
    how = f" ({', '.join(broken)})" if broken else ""
    replay = f": racegate replay {scenario.violations[0].replay_token}" if scenario.violations else ": see its report"
    return how + replay


def _invariants(question: Question) -> Grounds:
    for invariant in question.require.invariants:
        tallies = [
            (entry, tally)
            for entry in question.receipt.scenarios
            for tally in entry.invariants
            if tally.id == invariant
        ]
        if not any(tally.checked for _, tally in tallies):
            reason = "its premise never occurred" if tallies else "no scenario lists it"
            yield (
                Code.INVARIANT,
                f"the invariant {invariant!r} was not checked, {reason}: run the scenarios that exercise it",
            )
        elif not any(entry.verdict == Verdict.PASS and _upheld(tally) for entry, tally in tallies):
            yield Code.SCENARIO_NOT_PASSED, f"no scenario that checked the invariant {invariant!r} passed"


def _upheld(tally: Invariant) -> bool:
    return bool(tally.checked) and not tally.violated and isinstance(tally.unknown, UnsetType)
