"""One test for each refusal: the receipt and policy of `gate_cases`, which are allowed, with one thing edited."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from pathlib import Path

import pytest
from gate_cases import (
    NOW,
    OTHER_KEY,
    POLICY,
    WAIVER,
    codes,
    edited_envelope,
    judge,
    signed,
    signed_data,
    signed_text,
    statement_text,
)
from msgspec.structs import replace
from run_records import MODEL, cell, change, digest, failing_cell, first_cell, run, tally

from harness.verdict import Control, Exploration, PlacementRecord, Verdict
from reports import envelope
from reports.digests import canonical
from reports.gate.refusal import Code
from reports.predicate import run_suite_digest, statement


def refuses(decision, *expected: str) -> None:
    assert decision.decision == "DENY"
    assert codes(decision) == set(expected), [refusal.message for refusal in decision.refusals]
    assert all("\n" not in refusal.message and refusal.message for refusal in decision.refusals)


def suite_of(record) -> str:
    """The policy, pinning the suite of this record instead."""
    return POLICY.replace(run_suite_digest(run()), run_suite_digest(record))


def test_the_receipt_is_allowed_before_it_is_edited(tmp_path):
    decision = judge(tmp_path, signed(run()))
    assert decision.refusals == ()
    assert (decision.decision, decision.exit_code) == ("ALLOW", 0)
    assert decision.requirements[0].satisfied


# The envelope


def test_signature_edited_payload(tmp_path):
    good = json.loads(signed(run()))
    payload = base64.b64decode(good["payload"]).replace(b'"verdict":"PASS"', b'"verdict":"FAIL"')
    edited = edited_envelope(signed(run()), payload=base64.b64encode(payload).decode())
    refuses(judge(tmp_path, edited), "SIGNATURE", "NO_RECEIPT")


def test_signature_wrong_key(tmp_path):
    refuses(judge(tmp_path, signed(run(), OTHER_KEY)), "SIGNATURE", "NO_RECEIPT")


def test_signature_borrowed_keyid(tmp_path):
    trusted, other = json.loads(signed(run())), json.loads(signed(run(), OTHER_KEY))
    other["signatures"][0]["keyid"] = trusted["signatures"][0]["keyid"]
    refuses(judge(tmp_path, json.dumps(other).encode()), "SIGNATURE", "NO_RECEIPT")


def test_signature_unsigned(tmp_path):
    decision = judge(tmp_path, envelope.unsigned(canonical(statement(run()))))
    refuses(decision, "SIGNATURE", "NO_RECEIPT")
    assert "not signed" in decision.refusals[0].message


def test_signature_truncated(tmp_path):
    refuses(judge(tmp_path, signed(run())[:-40]), "SIGNATURE", "MALFORMED", "NO_RECEIPT")


def test_payload_type(tmp_path):
    edited = edited_envelope(signed(run()), payloadType="application/json")
    refuses(judge(tmp_path, edited), "PAYLOAD_TYPE", "NO_RECEIPT")


def test_predicate_type(tmp_path):
    edited = {**statement(run()), "predicateType": "https://slsa.dev/provenance/v1"}
    refuses(judge(tmp_path, signed_data(edited)), "PREDICATE_TYPE", "NO_RECEIPT")


MALFORMED = {
    "duplicate key": lambda text: text.replace('"verdict":"PASS"', '"verdict":"PASS","verdict":"PASS"', 1),
    "NaN": lambda text: text.replace('"attempt":1', '"attempt":NaN'),
    "Infinity": lambda text: text.replace('"attempt":1', '"attempt":Infinity'),
    "float": lambda text: text.replace('"attempt":1', '"attempt":1.0'),
    "huge integer": lambda text: text.replace('"attempt":1', '"attempt":1' + "0" * 5000),
    "missing field": lambda text: text.replace('"attempt":1,', ""),
    "unknown field": lambda text: text.replace('"attempt":1', '"attempt":1,"trustMe":true'),
    "null": lambda text: text.replace('"attempt":1', '"attempt":null'),
    "boolean for a number": lambda text: text.replace('"attempt":1', '"attempt":true'),
    "deep nesting": lambda text: text.replace('"attempt":1', '"attempt":' + "[" * 100_000 + "]" * 100_000),
    "truncated": lambda text: text[:-10],
    "trailing data": lambda text: text + "{}",
    "another statement type": lambda text: text.replace("in-toto.io/Statement/v1", "in-toto.io/Statement/v0.1"),
    "another subject": lambda text: text.replace('"name":"model"', '"name":"image"'),
    "a time that does not exist": lambda text: text.replace("2026-11-29T18:01:00Z", "2026-13-29T18:01:00Z"),
    "finished before it started": lambda text: text.replace("2026-11-29T18:01:00Z", "2026-11-29T17:01:00Z"),
    "a scenario twice": lambda text: text.replace('"id":"queue-full"', '"id":"many-clients"'),
    "not an object": lambda _: "[]",
    "empty": lambda _: "",
}


@pytest.mark.parametrize("edit", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed(tmp_path, edit):
    text = statement_text()
    edited = edit(text)
    assert edited != text
    refuses(judge(tmp_path, signed_text(edited)), "MALFORMED", "NO_RECEIPT")


# What it is about


def test_model_digest_another_model_ships(tmp_path):
    refuses(judge(tmp_path, signed(run()), models=(digest("another"),)), "MODEL_DIGEST", "NO_RECEIPT")


def test_model_digest_pinned_by_the_requirement(tmp_path):
    policy = POLICY.replace('device_class = "', f'model_sha256 = "{digest("pinned")}"\ndevice_class = "', 1)
    decision = judge(tmp_path, signed(run()), policy=policy, models=(MODEL, digest("pinned")))
    refuses(decision, "MODEL_DIGEST", "NO_RECEIPT")


def test_model_digest_a_scenario_ran_on_another_model(tmp_path):
    refuses(judge(tmp_path, signed(first_cell(run(), model_digest=digest("permutation")))), "MODEL_DIGEST")


@pytest.mark.parametrize("edit", [{"version": "1.31.0"}, {"name": "litert"}])
def test_runtime(tmp_path, edit):
    refuses(judge(tmp_path, signed(change(run(), "runtime", **edit))), "RUNTIME", "NO_RECEIPT")


def test_device_class(tmp_path):
    policy = POLICY.replace('device_classes = ["', 'device_classes = ["android-arm64-npu", "')
    receipt = signed(change(run(), "device", device_class="android-arm64-npu"))
    refuses(judge(tmp_path, receipt, policy=policy), "DEVICE_CLASS", "NO_RECEIPT")


def test_device_class_fingerprint_of_another_device(tmp_path):
    edited = statement(run())
    edited["predicate"]["device"]["cpu"]["cores"] = 8
    refuses(judge(tmp_path, signed_data(edited)), "DEVICE_CLASS")


def test_signer_not_for_device_class(tmp_path):
    policy = POLICY.replace('device_classes = ["linux-x86_64-cpu"]', 'device_classes = ["android-arm64-npu"]')
    refuses(judge(tmp_path, signed(run()), policy=policy), "SIGNER_NOT_FOR_DEVICE_CLASS", "NO_RECEIPT")


@pytest.mark.parametrize("edit", [{"kind": "pool"}, {"capacity": 8}])
def test_service(tmp_path, edit):
    refuses(judge(tmp_path, signed(change(run(), "service", **edit))), "SERVICE", "NO_RECEIPT")


def test_capability(tmp_path):
    refuses(judge(tmp_path, signed(change(run(), "service", capabilities=("deadline",)))), "CAPABILITY")


# The delegate


FALLBACKS = {
    "declared": {"fallback": True},
    "events": {"fallback_events": 1},
    "init error": {"init_error": "DelegateInitError"},
    "evidence unknown": {"evidence": "unknown"},
    "evidence empty": {"evidence": ""},
}


@pytest.mark.parametrize("edit", FALLBACKS.values(), ids=FALLBACKS.keys())
def test_delegate_fell_back(tmp_path, edit):
    receipt = signed(change(run(), "delegate", **edit))
    refuses(judge(tmp_path, receipt), "DELEGATE_FELL_BACK")
    allowing = POLICY.replace('fallback = "deny"', 'fallback = "allow"')
    assert judge(tmp_path, receipt, policy=allowing).decision == "ALLOW"


def test_delegate_fell_back_to_another(tmp_path):
    fallen = {"actual": "CPU", "placement": (PlacementRecord("CPU", 12, 1),)}
    decision = judge(tmp_path, signed(change(run(), "delegate", **fallen)))
    refuses(decision, "DELEGATE_FELL_BACK", "DELEGATE_SHARE")


def test_delegate_never_asked_for(tmp_path):
    cpu = {"requested": "CPU", "actual": "CPU", "placement": (PlacementRecord("CPU", 12, 1),)}
    refuses(judge(tmp_path, signed(change(run(), "delegate", **cpu))), "DELEGATE_FELL_BACK", "NO_RECEIPT")


def test_delegate_share(tmp_path):
    split = (PlacementRecord("CPUExecutionProvider", 4, 1), PlacementRecord("other", 8, 2))
    receipt = signed(change(run(), "delegate", placement=split))
    refuses(judge(tmp_path, receipt), "DELEGATE_SHARE")
    # 4 of 12 is a third: 0.333333333 is met, 0.333333334 is not.
    for share, decision in (("0.333333333", "ALLOW"), ("0.333333334", "DENY")):
        assert judge(tmp_path, receipt, policy=POLICY.replace('"1.0", f', f'"{share}", f')).decision == decision


INCONSISTENT = {
    "sum": (PlacementRecord("CPUExecutionProvider", 13, 1),),
    "partitions": (PlacementRecord("CPUExecutionProvider", 12, 13),),
    "no partition": (PlacementRecord("CPUExecutionProvider", 12, 0),),
}


@pytest.mark.parametrize("placement", INCONSISTENT.values(), ids=INCONSISTENT.keys())
def test_placement_inconsistent(tmp_path, placement):
    refuses(judge(tmp_path, signed(change(run(), "delegate", placement=placement))), "PLACEMENT_INCONSISTENT")


def test_placement_inconsistent_nothing_on_the_actual_delegate(tmp_path):
    placement = (PlacementRecord("other", 12, 1),)
    decision = judge(tmp_path, signed(change(run(), "delegate", placement=placement)))
    refuses(decision, "PLACEMENT_INCONSISTENT", "DELEGATE_SHARE")


def test_placement_inconsistent_empty(tmp_path):
    decision = judge(tmp_path, signed(change(run(), "delegate", placement=(), graph_nodes=0)))
    refuses(decision, "PLACEMENT_INCONSISTENT", "DELEGATE_SHARE")


# The harness, time, the challenge


@pytest.mark.parametrize("version", ["0.0.9", "0.1.0.dev1", "0.1.0rc1", "nonsense"])
def test_harness_version(tmp_path, version):
    refuses(judge(tmp_path, signed(change(run(), "harness", version=version))), "HARNESS_VERSION")


def test_harness_version_is_compared_as_numbers(tmp_path):
    policy = POLICY.replace('min_version = "0.1.0"', 'min_version = "0.9.0"')
    receipt = signed(change(run(), "harness", version="0.10.0"))
    assert judge(tmp_path, receipt, policy=policy).decision == "ALLOW"


@pytest.mark.parametrize("dirty", [True, None])
def test_harness_dirty(tmp_path, dirty):
    receipt = signed(change(run(), "harness", dirty=dirty))
    refuses(judge(tmp_path, receipt), "HARNESS_DIRTY")
    allowing = POLICY.replace("allow_dirty = false", "allow_dirty = true")
    assert judge(tmp_path, receipt, policy=allowing).decision == "ALLOW"


def test_expired(tmp_path):
    finished = NOW.replace(month=11, day=29, hour=18, minute=1)
    assert judge(tmp_path, signed(run()), now=finished + timedelta(days=14)).decision == "ALLOW"
    refuses(judge(tmp_path, signed(run()), now=finished + timedelta(days=14, seconds=1)), "EXPIRED")


def test_from_the_future(tmp_path):
    finished = NOW.replace(month=11, day=29, hour=18, minute=1)
    assert judge(tmp_path, signed(run()), now=finished - timedelta(minutes=5)).decision == "ALLOW"
    refuses(judge(tmp_path, signed(run()), now=finished - timedelta(minutes=5, seconds=1)), "FROM_THE_FUTURE")


def test_challenge(tmp_path):
    answered = signed(run(challenge="n0nce"))
    assert judge(tmp_path, answered, challenge="n0nce").decision == "ALLOW"
    assert judge(tmp_path, answered).decision == "ALLOW"
    refuses(judge(tmp_path, answered, challenge="another"), "CHALLENGE")
    refuses(judge(tmp_path, signed(run()), challenge="n0nce"), "CHALLENGE")


def test_challenge_required(tmp_path):
    policy = POLICY.replace('challenge = "optional"', 'challenge = "required"')
    answered = signed(run(challenge="n0nce"))
    assert judge(tmp_path, answered, policy=policy, challenge="n0nce").decision == "ALLOW"
    refuses(judge(tmp_path, answered, policy=policy), "CHALLENGE")
    refuses(judge(tmp_path, signed(run()), policy=policy), "CHALLENGE")


# Coverage


def test_suite_digest_another_suite(tmp_path):
    refuses(judge(tmp_path, signed(first_cell(run(), scenario_digest=digest("edited")))), "SUITE_DIGEST")


def test_suite_digest_another_id(tmp_path):
    refuses(judge(tmp_path, signed(change(run(), "suite", id="smoke"))), "SUITE_DIGEST", "NO_RECEIPT")


def test_suite_digest_is_computed_again(tmp_path):
    edited = statement(run())
    edited["predicate"]["scenarios"][0]["digest"] = digest("edited")
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
    assert judge(tmp_path, signed(not_applicable("priority"))).decision == "ALLOW"


@pytest.mark.parametrize("requires", [(), ("deadline",), ("running_cancel",)])
def test_scenario_not_passed_as_not_applicable(tmp_path, requires):
    # deadline is the service's own, running_cancel is also what the policy demands
    refuses(judge(tmp_path, signed(not_applicable(*requires))), "SCENARIO_NOT_PASSED")


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
    refuses(judge(tmp_path, signed(run(interrupted=True))), "VERDICT")


def test_verdict_interrupted_yet_said_to_pass(tmp_path):
    edited = statement(run(interrupted=True))
    edited["predicate"]["verdict"] = "PASS"
    refuses(judge(tmp_path, signed_data(edited)), "VERDICT")


@pytest.mark.parametrize(
    "control",
    [
        Control("unsafe-shared", Verdict.FAIL, "own-output", cell("unsafe-shared")),
        Control("unsafe-shared", Verdict.FAIL, "own-output", cell("unsafe-shared", verdict=Verdict.FAIL)),
        Control("stateful", Verdict.UNKNOWN, "own-output", cell("stateful", verdict=Verdict.UNKNOWN)),
    ],
    ids=["passed", "failed for another reason", "unknown for another reason"],
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


def test_every_code_has_a_test():
    source = Path(__file__).read_text()
    assert [code for code in Code if f'"{code}"' not in source] == []
