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
    edited_envelope,
    judge,
    refuses,
    signed,
    signed_data,
    signed_text,
    statement_text,
)
from run_records import MODEL, change, digest, first_cell, run

from harness.verdict import PlacementRecord
from reports import envelope
from reports.digests import canonical
from reports.gate.refusal import Code
from reports.predicate import statement


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


def test_as_many_partitions_as_nodes_are_consistent(tmp_path):
    placement = (PlacementRecord("CPUExecutionProvider", 12, 12),)
    assert judge(tmp_path, signed(change(run(), "delegate", placement=placement))).decision == "ALLOW"


def test_a_run_within_one_second_is_no_contradiction(tmp_path):
    assert judge(tmp_path, signed(run(finished_on=run().started_on))).decision == "ALLOW"


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


def test_every_code_has_a_test():
    sources = "".join(path.read_text() for path in Path(__file__).parent.glob("test_gate_*.py"))
    assert [code for code in Code if f'"{code}"' not in sources] == []


def leaves(value, path=()):
    """Every field and item below a value, as a path of keys and indices."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from leaves(inner, (*path, key))


def without(value, path, replacement=None):
    """A copy with one field taken out, or put in place of another value."""
    copy = json.loads(json.dumps(value))
    place = copy
    for key in path[:-1]:
        place = place[key]
    if replacement is None:
        del place[path[-1]]
    else:
        place[path[-1]] = replacement
    return copy


# A map whose keys are free, or a part that a receipt may be without.
FREE = {"counts", "options", "artifacts", "cgroupLimits", "configuration"}
MAY_LACK = {"exploration", "processLooks"}


def test_taking_out_any_field_denies(tmp_path):
    whole = statement(run(controls=()))
    for path in leaves(whole):
        if isinstance(path[-1], str) and not FREE & set(path[:-1]) and path[-1] not in MAY_LACK:
            assert judge(tmp_path, signed_data(without(whole, path))).decision == "DENY", path


def test_a_receipt_from_before_other_processes_were_watched_still_counts(tmp_path):
    whole = statement(run())
    older = json.loads(json.dumps(whole))
    for entry in older["predicate"]["scenarios"]:
        del entry["processLooks"]
    for receipt in (whole, older):
        assert judge(tmp_path, signed_data(receipt)).decision == "ALLOW"


def test_no_field_of_a_wrong_type_gets_through_or_crashes_the_gate(tmp_path):
    whole = statement(run())
    for path in leaves(whole):
        for wrong in ([[1]], {"x": {}}, -2):
            decision = judge(tmp_path, signed_data(without(whole, path, wrong)))
            if path[-2:-1] and path[-2] in {"options", "configuration"} and wrong == -2:
                continue  # a setting may be any integer
            assert decision.decision == "DENY", (path, wrong)
