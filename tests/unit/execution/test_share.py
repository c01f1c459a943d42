"""What shares come to together: nothing passes, and nothing is doubted, that would not be in one process."""

from __future__ import annotations

import msgspec
import pytest

from harness.execution.share import ShareReport, merge
from harness.verdict import (
    CellResult,
    Exploration,
    Failure,
    FaultTally,
    Finding,
    InvariantTally,
    Verdict,
    Violation,
)

WHOLE = Exploration("exhaustive", "1", 2, whole_to=2)


def report(*, checked=3, violated=0, exhausted=True, failures=(), findings=(), native="atomic", **facts):
    sums = CellResult(
        "s",
        "1" * 64,
        "2" * 64,
        Verdict.UNKNOWN,
        exercises=("own-output",),
        native=native,
        executions=5,
        decision_points=50,
        seconds=facts.pop("seconds", 1.0),
        exploration=msgspec.structs.replace(WHOLE, whole_to=2 if exhausted else 1),
        faults=(FaultTally("run-failure", 1),),
        invariants=(InvariantTally("own-output", checked, violated),),
        failures=failures,
        findings=findings,
    )
    return ShareReport(sums, confirmed=facts.pop("confirmed", bool(failures)), **facts)


def failure(execution, invariant="own-output", message="wrong"):
    return Failure((Violation(invariant, message, (0,)),), f"rg1.{execution}", "3" * 64, execution, ())


def test_counts_are_summed_and_the_slowest_share_is_the_time():
    merged = merge([report(seconds=1.0), report(seconds=3.0)])
    assert (merged.verdict, merged.reason) == (Verdict.PASS, "")
    assert (merged.executions, merged.decision_points, merged.seconds) == (10, 100, 3.0)
    assert merged.faults == (FaultTally("run-failure", 2),)
    assert merged.invariants == (InvariantTally("own-output", 6, 0),)
    assert merged.exploration == WHOLE


def test_a_premise_that_occurred_in_one_share_did_occur():
    assert merge([report(checked=0), report(checked=1)]).verdict is Verdict.PASS
    assert merge([report(checked=0), report(checked=0)]).reason == "the premise of own-output never occurred"


def test_a_call_held_in_one_share_was_held():
    assert merge([report(native="held", in_native=1), report(native="held")]).verdict is Verdict.PASS
    assert merge([report(native="held"), report(native="held")]).reason == "no run was held inside native code"


def test_the_space_is_whole_as_far_as_in_the_share_that_came_least_far():
    assert merge([report(), report(exhausted=False)]).exploration.whole_to == 1


def test_the_space_is_exhausted_only_if_every_share_is():
    exploration = merge([report(), report(exhausted=False), report()]).exploration
    assert exploration is not None
    assert not exploration.exhausted


def test_shares_that_began_differently_pass_nothing_and_exhaust_nothing():
    merged = merge([report(common="a"), report(common="b")])
    assert merged.verdict is Verdict.UNKNOWN
    assert "differ between the processes" in merged.reason
    assert merged.exploration is not None
    assert not merged.exploration.exhausted


@pytest.mark.parametrize("turned", [False, True])
def test_the_failure_of_the_lowest_execution_is_kept_whichever_share_has_it(turned):
    shares = [
        report(failures=(failure(8), failure(12, "capacity"))),
        report(failures=(failure(3), failure(5, "order"))),
    ]
    merged = merge(shares[::-1] if turned else shares)
    assert merged.verdict is Verdict.FAIL
    assert merged.reason == "own-output: wrong"
    assert [kept.execution for kept in merged.failures] == [3, 12, 5]


def test_what_is_no_evidence_alone_is_none_together():
    kept = Finding("nondeterminism", "something is kept from one execution to the next")
    shares = [report(failures=(failure(8),), findings=(kept,), confirmed=False), report()]
    assert merge(shares).verdict is Verdict.UNKNOWN
    merged = merge([*shares, report(failures=(failure(11),))])
    assert merged.verdict is Verdict.FAIL
    assert [each.execution for each in merged.failures] == [11]


def test_a_violation_that_no_share_confirmed_is_unknown():
    assert "no replay confirmed it" in merge([report(violated=1), report()]).reason


def test_what_needed_no_execution_is_said_once():
    sums = msgspec.structs.replace(report().sums, verdict=Verdict.NOT_APPLICABLE, reason="no drain")
    assert merge([ShareReport(sums, decided=True)] * 2) == sums
