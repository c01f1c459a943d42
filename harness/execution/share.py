"""What one share of a cell's exploration found, and what all shares of the cell come to: its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from harness.verdict import CellResult, Failure, FaultTally, Finding, InvariantTally, Verdict

__all__ = [
    "DECIDES_NOTHING",
    "MOST_FAILURES",
    "MOST_FINDINGS",
    "ShareReport",
    "distinct_findings",
    "merge",
    "most_telling",
]

DECIDES_NOTHING = frozenset(
    {"shared-session", "thread-left", "gate-opened", "unattributed", "thread-died", "native-library", "unwatched"}
)
"""Findings that a person should read and that leave the verdict alone."""
MOST_FAILURES = 8
MOST_FINDINGS = 16


class ShareReport(msgspec.Struct, frozen=True):
    """What the executions of one share add up to.

    `sums` has the share's own counts; its verdict and reason hold only if `decided`, which says that nothing had to be
    run. `confirmed`: its failures are evidence. `in_native` counts calls held inside native code. `blind` is why
    outputs cannot be told apart, if so. `common` is a digest over the executions that every share runs.
    `armed` are the faults that were asked for from outside.
    """

    sums: CellResult
    decided: bool = False
    confirmed: bool = False
    in_native: int = 0
    blind: str = ""
    common: str = ""
    armed: tuple[str, ...] = ()


def merge(reports: Sequence[ShareReport]) -> CellResult:
    """The result of a cell from all its shares. It does not depend on which of them was done first.

    What a share alone cannot know is judged here, over all of them: a premise that occurred in any share did occur.
    """
    decided = next((report for report in reports if report.decided), None)
    if decided is not None:
        return decided.sums
    sums = _summed(reports)
    if sums.failures and any(report.confirmed for report in reports):
        first = sums.failures[0].violations[0]
        return msgspec.structs.replace(sums, verdict=Verdict.FAIL, reason=f"{first.invariant}: {first.message}")
    why = next(_doubts(sums, reports), "")
    return msgspec.structs.replace(sums, verdict=Verdict.UNKNOWN if why else Verdict.PASS, reason=why)


def _summed(reports: Sequence[ShareReport]) -> CellResult:
    each = [report.sums for report in reports]
    first = each[0]
    findings = [finding for sums in each for finding in sums.findings]
    same = len({report.common for report in reports}) == 1
    if not same:
        findings.append(Finding("nondeterminism", "the executions that every share ran differ between the processes"))
    exploration = first.exploration
    if exploration is not None:
        whole_to = min(-1 if sums.exploration is None else sums.exploration.whole_to for sums in each) if same else -1
        exploration = msgspec.structs.replace(exploration, whole_to=whole_to)
    return msgspec.structs.replace(
        first,
        executions=sum(sums.executions for sums in each),
        decision_points=sum(sums.decision_points for sums in each),
        seconds=max(sums.seconds for sums in each),
        exploration=exploration,
        faults=_faults(each),
        invariants=_invariants(each),
        failures=_failures(reports),
        findings=distinct_findings(findings),
        process_looks=sum(sums.process_looks for sums in each),
    )


def _faults(each: Iterable[CellResult]) -> tuple[FaultTally, ...]:
    injected: Counter[str] = Counter()
    for sums in each:
        injected.update({tally.kind: tally.injected for tally in sums.faults})
    return tuple(FaultTally(kind, count) for kind, count in sorted(injected.items()))


def _invariants(each: Iterable[CellResult]) -> tuple[InvariantTally, ...]:
    found: dict[str, InvariantTally] = {}
    for tally in (tally for sums in each for tally in sums.invariants):
        known = found.get(tally.id, InvariantTally(tally.id, 0, 0))
        found[tally.id] = InvariantTally(
            tally.id, known.checked + tally.checked, known.violated + tally.violated, known.unknown or tally.unknown
        )
    return tuple(found[name] for name in sorted(found))


def _failures(reports: Sequence[ShareReport]) -> tuple[Failure, ...]:
    """The failures that count, the earliest for each invariant, the most telling first."""
    count = [report for report in reports if report.confirmed] or reports
    kept: list[Failure] = []
    seen: set[str] = set()
    for failure in sorted((each for report in count for each in report.sums.failures), key=_execution):
        broken = {violation.invariant for violation in failure.violations}
        if not broken <= seen and len(kept) < MOST_FAILURES:
            kept.append(failure)
            seen |= broken
    return tuple(sorted(kept, key=lambda failure: most_telling(failure.violations[0].invariant)))


def _execution(failure: Failure) -> int:
    return failure.execution


def distinct_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, not too many; one that decides the verdict is kept however many of the others there are."""
    kept: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        if len(kept) < MOST_FINDINGS or finding.kind not in DECIDES_NOTHING:
            kept.setdefault((finding.kind, finding.message), finding)
    return tuple(kept.values())


def _doubts(sums: CellResult, reports: Sequence[ShareReport]) -> Iterator[str]:
    """Every reason for which executions without a confirmed violation do not make a PASS."""
    injected = {tally.kind for tally in sums.faults}
    yield from (finding.message for finding in sums.findings if _is_doubt(finding, injected))
    yield from (f"{tally.id} was violated, but no replay confirmed it" for tally in sums.invariants if tally.violated)
    if sums.native == "held" and not sum(report.in_native for report in reports):
        yield "no run was held inside native code"
    blind = next((report.blind for report in reports if report.blind), "")
    if blind and "own-output" in sums.exercises:
        yield blind
    yield from (f"the fault {name} never struck" for name in reports[0].armed if name not in injected)
    tallies = {tally.id: tally for tally in sums.invariants}
    for invariant in sums.exercises:
        if invariant not in tallies or not tallies[invariant].checked:
            yield f"the premise of {invariant} never occurred"
    for tally in sums.invariants:
        if tally.unknown and (tally.id in sums.exercises or tally.unknown.startswith("checker crashed")):
            yield f"{tally.id}: {tally.unknown}"


def _is_doubt(finding: Finding, injected: Collection[str]) -> bool:
    """A fault that struck in another execution was there to be seen; one that never did shows nothing."""
    if finding.kind == "fault-missed":
        return finding.message.partition(" ")[0] not in injected
    return finding.kind not in DECIDES_NOTHING


def most_telling(invariant: str) -> tuple[bool, str]:
    """A sort key: a wrong answer to the wrong user comes before what led to it."""
    return (invariant != "own-output", invariant)
