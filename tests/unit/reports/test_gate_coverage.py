"""Refusals for what a receipt covers, whether it agrees with itself, and the policy; as in `test_gate_refusals`."""

from __future__ import annotations

from datetime import timedelta

import pytest
from gate_cases import (
    NOW,
    POLICY,
    WAIVER,
    judge,
    refuses,
    signed,
    signed_data,
    suite_of,
)
from msgspec.structs import replace
from run_records import MODEL, cell, change, digest, failing_cell, first_cell, run, tally

from harness.verdict import Control, Exploration, Verdict
from reports.predicate import statement

# Coverage


def test_suite_digest_another_suite(tmp_path):
    refuses(judge(tmp_path, signed(first_cell(run(), scenario_digest=digest("edited")))), "SUITE_DIGEST")


def test_suite_digest_another_id(tmp_path):
    refuses(judge(tmp_path, signed(change(run(), "suite", id="smoke"))), "SUITE_DIGEST", "NO_RECEIPT")


def test_suite_digest_is_computed_again(tmp_path):
    edited = statement(run())
    edited["predicate"]["scenarios"][0]["digest"] = digest("edited")
    refuses(judge(tmp_path, signed_data(edited)), "SUITE_DIGEST")


def test_suite_digest_claimed_for_other_scenarios(tmp_path):
    edited = statement(run())
    edited["predicate"]["suite"]["digest"] = digest("claimed")
    refuses(judge(tmp_path, signed_data(edited)), "SUITE_DIGEST")


def test_scenario_missing(tmp_path):
    record = run(cells=run().cells[1:])
    refuses(judge(tmp_path, signed(record), policy=suite_of(record)), "SCENARIO_MISSING")
    refuses(judge(tmp_path, signed(record)), "SCENARIO_MISSING", "SUITE_DIGEST")


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.CRASHED, Verdict.HUNG, Verdict.KILLED, Verdict.NOT_RUN])
def test_scenario_not_passed(tmp_path, verdict):
    refuses(judge(tmp_path, signed(first_cell(run(), verdict=verdict))), "SCENARIO_NOT_PASSED", "VERDICT")


def test_scenario_not_passed_has_the_replay_command(tmp_path):
    decision = judge(tmp_path, signed(run(cells=(failing_cell(), *run().cells[1:]))))
    refuses(decision, "SCENARIO_NOT_PASSED", "VERDICT")
    assert any("racegate replay rg1." in refusal.message for refusal in decision.refusals)


def not_applicable(*requires: str):
    return first_cell(run(), verdict=Verdict.NOT_APPLICABLE, requires=requires)


def test_scenario_not_applicable_for_a_capability_nobody_has(tmp_path):
    unnamed = POLICY.replace('"many-clients", ', "")
    assert judge(tmp_path, signed(not_applicable("priority")), policy=unnamed).decision == "ALLOW"


def test_scenario_that_the_policy_names_is_passed_and_no_less(tmp_path):
    refuses(judge(tmp_path, signed(not_applicable("priority"))), "SCENARIO_NOT_PASSED")


@pytest.mark.parametrize("requires", [(), ("deadline",), ("running_cancel",)])
def test_scenario_not_passed_as_not_applicable(tmp_path, requires):
    # deadline is the service's own, running_cancel is also what the policy demands
    decision = judge(tmp_path, signed(not_applicable(*requires)))
    refuses(decision, "SCENARIO_NOT_PASSED")
    assert "do not skip it" in decision.refusals[0].message


def test_scenario_not_passed_for_a_required_invariant(tmp_path):
    cells = (
        cell("many-clients", invariants=(tally("terminal-once"), tally("no-delivery-after-cancel"))),
        cell("queue-full", invariants=(tally("own-output", unknown="hidden state"), tally("terminal-once"))),
        run().cells[2],
    )
    refuses(judge(tmp_path, signed(run(cells=cells))), "SCENARIO_NOT_PASSED")


def test_unknown_verdict(tmp_path):
    refuses(judge(tmp_path, signed(first_cell(run(), verdict=Verdict.UNKNOWN))), "UNKNOWN_VERDICT", "VERDICT")


def test_unknown_verdict_a_word_the_gate_does_not_know(tmp_path):
    edited = statement(run())
    edited["predicate"]["scenarios"][0]["verdict"] = "MOSTLY_PASS"
    edited["predicate"]["counts"] = {"PASS": 1, "MOSTLY_PASS": 1, "NOT_APPLICABLE": 1}
    refuses(judge(tmp_path, signed_data(edited)), "UNKNOWN_VERDICT", "VERDICT")


@pytest.mark.parametrize("invariants", [(), (tally("own-output", 0), tally("terminal-once", 0))])
def test_invariant_of_a_scenario(tmp_path, invariants):
    refuses(judge(tmp_path, signed(first_cell(run(), invariants=invariants))), "INVARIANT")


@pytest.mark.parametrize(
    "invariants",
    [
        (tally("own-output"), tally("terminal-once")),
        (tally("own-output"), tally("terminal-once"), tally("no-delivery-after-cancel", 0)),
    ],
)
def test_invariant_of_the_policy(tmp_path, invariants):
    cells = tuple(replace(each, invariants=invariants) for each in run().cells[:2])
    refuses(judge(tmp_path, signed(run(cells=(*cells, run().cells[2])))), "INVARIANT")


def test_too_few_executions(tmp_path):
    refuses(judge(tmp_path, signed(first_cell(run(), executions=99))), "TOO_FEW_EXECUTIONS")


def test_seeds(tmp_path):
    policy = POLICY.replace("distinct_seeds = 1", "distinct_seeds = 2")
    first = signed(run())
    cells = tuple(replace(each, exploration=Exploration("pct", "8")) for each in run().cells)
    second = signed(run(run_id="second", cells=cells))
    refuses(judge(tmp_path, first, policy=policy), "SEEDS")
    refuses(judge(tmp_path, first, signed(run(run_id="again")), policy=policy), "SEEDS")
    assert judge(tmp_path, first, second, policy=policy).decision == "ALLOW"


# Consistency


@pytest.mark.parametrize("counts", [{"PASS": 3, "NOT_APPLICABLE": 1}, {"PASS": 2}, {}])
def test_counts_disagree(tmp_path, counts):
    edited = statement(run())
    edited["predicate"]["counts"] = counts
    refuses(judge(tmp_path, signed_data(edited)), "COUNTS_DISAGREE")


def test_verdict_does_not_follow(tmp_path):
    edited = statement(run())
    edited["predicate"]["verdict"] = "FAIL"
    refuses(judge(tmp_path, signed_data(edited)), "VERDICT")


def test_verdict_interrupted(tmp_path):
    decision = judge(tmp_path, signed(run(interrupted=True)))
    refuses(decision, "VERDICT")
    # The receipt says UNKNOWN, as it must: that is no contradiction.
    assert len(decision.refusals) == 1


def test_verdict_interrupted_yet_said_to_pass(tmp_path):
    edited = statement(run(interrupted=True))
    edited["predicate"]["verdict"] = "PASS"
    refuses(judge(tmp_path, signed_data(edited)), "VERDICT")


@pytest.mark.parametrize(
    "control",
    [
        Control("unsafe-shared", Verdict.FAIL, "own-output", cell("unsafe-shared")),
        Control("unsafe-shared", Verdict.FAIL, "own-output", cell("unsafe-shared", verdict=Verdict.FAIL)),
        Control(
            "unsafe-shared", Verdict.FAIL, "own-output", replace(failing_cell("unsafe-shared"), verdict=Verdict.HUNG)
        ),
        Control("unsafe-shared", Verdict.FAIL, "", cell("unsafe-shared")),
        Control("stateful", Verdict.UNKNOWN, "own-output", cell("stateful", verdict=Verdict.UNKNOWN)),
    ],
    ids=["passed", "failed for another reason", "hung", "passed, no reason asked", "unknown for another reason"],
)
def test_verdict_control_surprised(tmp_path, control):
    decision = judge(tmp_path, signed(run(controls=(control,))))
    refuses(decision, "VERDICT")
    assert any("must see" in refusal.message for refusal in decision.refusals)


def test_verdict_pass_with_violations(tmp_path):
    edited = first_cell(run(), invariants=(tally("own-output", 9, 1), *run().cells[0].invariants[1:]))
    refuses(judge(tmp_path, signed(edited)), "VERDICT")


# The policy


def test_no_receipt(tmp_path):
    refuses(judge(tmp_path), "NO_RECEIPT")


def test_no_receipt_for_a_model_that_no_requirement_names(tmp_path):
    policy = POLICY.replace('device_class = "', f'model_sha256 = "{MODEL}"\ndevice_class = "', 1)
    assert judge(tmp_path, signed(run()), policy=policy).decision == "ALLOW"
    refuses(judge(tmp_path, signed(run()), policy=policy, models=(MODEL, digest("second"))), "NO_RECEIPT")


def test_policy_empty(tmp_path):
    refuses(judge(tmp_path, signed(run()), policy=POLICY.partition("[[require]]")[0]), "POLICY_EMPTY")


def test_policy_expired(tmp_path):
    policy = POLICY.replace("2027-06-30", "2026-11-30")
    refuses(judge(tmp_path, signed(run()), policy=policy), "POLICY_EXPIRED")
    assert judge(tmp_path, signed(run()), policy=policy, now=NOW - timedelta(seconds=1)).decision == "ALLOW"


def test_waiver(tmp_path):
    receipt = signed(run(cells=(failing_cell(), *run().cells[1:])))
    in_force = judge(tmp_path, receipt, policy=POLICY + WAIVER)
    assert in_force.decision == "ALLOW"
    assert [(note.scenario, note.verdict, note.approver) for note in in_force.waivers] == [
        ("many-clients", "FAIL", "release manager")
    ]


@pytest.mark.parametrize(
    "edit", [('until = "2026-12-31', 'until = "2026-11-30'), ("reason", f'model_sha256 = "{digest("x")}"\nreason')]
)
def test_waiver_refused(tmp_path, edit):
    receipt = signed(run(cells=(failing_cell(), *run().cells[1:])))
    decision = judge(tmp_path, receipt, policy=POLICY + WAIVER.replace(*edit))
    refuses(decision, "WAIVER", "SCENARIO_NOT_PASSED", "VERDICT")
    assert decision.waivers == ()


def test_waiver_that_nobody_needs_is_no_reason_to_deny(tmp_path):
    policy = POLICY + WAIVER.replace("2026-12-31", "2026-11-30")
    assert judge(tmp_path, signed(run()), policy=policy).decision == "ALLOW"


def test_waivers_for_everything_leave_no_pass(tmp_path):
    cells = tuple(replace(each, verdict=Verdict.FAIL) for each in run().cells[:2])
    policy = POLICY + WAIVER + WAIVER.replace("many-clients", "queue-full")
    decision = judge(tmp_path, signed(run(cells=(*cells, run().cells[2]))), policy=policy)
    refuses(decision, "VERDICT", "SCENARIO_NOT_PASSED")
