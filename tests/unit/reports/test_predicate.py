from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from run_records import MEASURED, MODEL, change, digest, failing_run, run

from reports import schema
from reports.digests import canonical, suite_digest
from reports.evidence import evidence_files
from reports.predicate import predicate, run_suite_digest, statement, statement_bytes


def scalars(value: Any) -> set[type]:
    if isinstance(value, dict):
        return set().union(*(scalars(each) for each in value.values()))
    if isinstance(value, (list, tuple)):
        return set().union(*(scalars(each) for each in value))
    return {type(value)}


def test_the_fields_are_those_of_the_specification():
    required = {
        "receiptVersion", "runId", "startedOn", "finishedOn", "mode", "attempt", "interrupted", "runtime", "delegate",
        "device", "service", "suite", "scenarios", "controls", "counts", "verdict", "harness", "evidence",
    }  # fmt: skip
    assert set(predicate(run())) == required
    optional = run(challenge="n", previous_receipt=digest("previous"))
    assert set(predicate(optional)) == {*required, "challenge", "previousReceipt"}
    assert set(predicate(run(measured=MEASURED))) == {*required, "copies", "capacity"}


def test_what_was_measured_is_there_in_whole_numbers():
    found = predicate(run(measured=MEASURED))
    submitted, lent = found["copies"]
    assert submitted["statement"] == "undecided"
    assert "handOver" not in submitted, "nothing was measured, and no figure stands for that"
    assert lent["statement"] == "no explicit copy"
    assert lent["handOver"] == {"medianPsPerByte": -1, "lowPsPerByte": -2, "highPsPerByte": 3, "rounds": 15}
    assert lent["notObserved"] == ["copies on the device's timeline"]
    assert found["capacity"]["weightsBytes"] == 90_000_000
    assert found["capacity"]["perUnitBytes"] == 128
    assert scalars(found) <= {str, int, bool}


def test_a_statement_about_copies_that_there_is_not_is_refused():
    wrong = replace(MEASURED, copies=(replace(MEASURED.copies[0], statement="zero copy"),))
    with pytest.raises(KeyError):
        predicate(run(measured=wrong))


def test_the_model_that_was_switched_to_is_there_where_outputs_tell():
    made = run()
    cells = (replace(made.cells[0], next_model_digest=digest("next")), *made.cells[1:])
    entries = predicate(replace(made, cells=cells))["scenarios"]
    assert [entry.get("nextModel") for entry in entries] == [digest("next"), *(None for _ in cells[1:])]


def test_no_floats_and_no_nulls():
    assert scalars(predicate(failing_run())) <= {str, int, bool}


def test_the_statement_is_about_the_model_alone():
    made = statement(run())
    assert made["_type"] == "https://in-toto.io/Statement/v1"
    assert made["subject"] == [{"name": "model", "digest": {"sha256": MODEL}}]
    assert made["predicateType"].endswith("/receipt/v1")


def test_canonical_bytes_do_not_depend_on_order_and_follow_the_schema():
    data = statement_bytes(run())
    assert data == canonical(json.loads(data))
    assert msgspec.json.decode(data, type=schema.Statement)


@pytest.mark.parametrize("record", [run(), failing_run()], ids=["passing", "failing"])
def test_a_receipt_is_a_pure_function_of_the_record(record):
    assert statement_bytes(record) == statement_bytes(record)


@pytest.mark.parametrize(
    "record", [run(started_on="yesterday"), run(model_digest="x"), run(run_id="../x"), run(attempt=0)]
)
def test_a_record_that_breaks_the_schema_gives_no_receipt(record):
    with pytest.raises(msgspec.ValidationError):
        statement(record)


def test_the_suite_digest_can_be_computed_from_the_scenarios_listed_in_any_order():
    made = predicate(run())
    pairs = [(entry["id"], entry["digest"]) for entry in made["scenarios"]]
    assert suite_digest("release", "1", reversed(pairs)) == made["suite"]["digest"] == run_suite_digest(run())


def test_the_suite_digest_depends_on_each_of_its_parts():
    pairs = [("a", digest("a")), ("b", digest("b"))]
    variants = [
        ("s", "1", pairs),
        ("t", "1", pairs),
        ("s", "2", pairs),
        ("s", "1", pairs[:1]),
        ("s", "1", [("a", digest("c")), pairs[1]]),
    ]
    assert len({suite_digest(*variant) for variant in variants}) == len(variants)


def fingerprint(record) -> str:
    return predicate(record)["device"]["fingerprint"]


@pytest.mark.parametrize(
    "edit", [{"kernel": "6.9"}, {"cgroup_limits": {}}, {"memory_mib": 7800}, {"cpu_isa": ("sse4_2", "avx2")}]
)
def test_two_devices_of_a_kind_have_one_fingerprint(edit):
    assert fingerprint(change(run(), "device", **edit)) == fingerprint(run())


@pytest.mark.parametrize(
    "edit",
    [
        {"cpu_cores": 8},
        {"memory_mib": 16000},
        {"accelerators": ("npu 1.2",)},
        {"os": "Android 16"},
        {"device_class": "x"},
    ],
)
def test_devices_of_another_kind_have_another(edit):
    assert fingerprint(change(run(), "device", **edit)) != fingerprint(run())


def test_evidence_is_bound_by_digest():
    found = {entry["name"]: entry["sha256"] for entry in predicate(failing_run())["evidence"]}
    assert found == {name: hashlib.sha256(data).hexdigest() for name, data in evidence_files(failing_run()).items()}


def test_each_violation_has_its_replay_token():
    entry = predicate(failing_run())["scenarios"][0]
    assert [each["invariant"] for each in entry["violations"]] == ["own-output", "terminal-once"]
    assert all(each["replayToken"].startswith("rg1.") for each in entry["violations"])


def test_an_unknown_dirtiness_is_said():
    assert predicate(change(run(), "harness", dirty=None))["harness"]["dirty"] == "unknown"


def test_counts_name_every_verdict():
    assert predicate(failing_run())["counts"] == {
        "PASS": 1, "FAIL": 1, "UNKNOWN": 1, "NOT_APPLICABLE": 1, "CRASHED": 1, "HUNG": 0, "KILLED": 0, "NOT_RUN": 0,
    }  # fmt: skip


def test_an_interrupted_run_says_so_and_is_no_pass():
    made = predicate(run(interrupted=True))
    assert (made["interrupted"], made["verdict"]) == (True, "UNKNOWN")


def test_a_control_is_no_scenario():
    only = replace(run(), cells=run().cells[:1])
    assert [entry["id"] for entry in predicate(only)["scenarios"]] == ["many-clients"]
    assert [entry["name"] for entry in predicate(only)["controls"]] == ["unsafe-shared"]
