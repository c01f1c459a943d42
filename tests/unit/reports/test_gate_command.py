from __future__ import annotations

import json
from datetime import UTC, datetime

from gate_cases import NOW, POLICY, signed, write_policy
from run_records import MODEL, MODEL_BYTES, run

from reports.gate.command import gate


def given(tmp_path, *records, policy=POLICY):
    """A policy, a model and receipts on disk, as arguments of `gate`."""
    (tmp_path / "model.onnx").write_bytes(MODEL_BYTES)
    paths = []
    for number, record in enumerate(records):
        path = tmp_path / f"receipt-{number}.json"
        path.write_bytes(signed(record))
        paths.append(path)
    return write_policy(tmp_path, policy), [tmp_path / "model.onnx"], paths, tmp_path / "out" / "decision.json", NOW


def test_allow_is_0_and_the_decision_is_there_before_the_text(tmp_path):
    arguments = given(tmp_path, run())
    code, text = gate(*arguments)
    assert (code, text.split()[0]) == (0, "ALLOW")
    decision = json.loads(arguments[3].read_bytes())
    assert (decision["decision"], decision["models"]) == ("ALLOW", [MODEL])


def test_deny_is_1_and_advisory_is_0(tmp_path):
    arguments = given(tmp_path)
    assert gate(*arguments)[0] == 1
    code, text = gate(*arguments, advisory=True)
    assert (code, text.startswith("WOULD DENY")) == (0, True)


def test_the_model_is_hashed_by_the_gate_itself(tmp_path):
    arguments = given(tmp_path, run())
    (tmp_path / "model.onnx").write_bytes(MODEL_BYTES + b" edited")
    code, text = gate(*arguments)
    assert code == 1
    assert "MODEL_DIGEST" in text


def test_a_run_folder_stands_for_its_receipt(tmp_path):
    policy, models, _, out, now = given(tmp_path)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "receipt.dsse.json").write_bytes(signed(run()))
    assert gate(policy, models, [folder], out, now)[0] == 0


def test_a_bad_policy_is_2_even_in_an_advisory_run(tmp_path):
    arguments = given(tmp_path, run(), policy=POLICY.replace("id = ", "skip = true\nid = ", 1))
    for advisory in (False, True):
        code, text = gate(*arguments, advisory=advisory)
        assert (code, text.count("\n")) == (2, 1)
        assert "skip" in text
    assert not arguments[3].exists()


def test_a_file_that_is_not_there_is_2(tmp_path):
    policy, models, receipts, out, now = given(tmp_path, run())
    missing = tmp_path / "none"
    assert gate(missing, models, receipts, out, now)[0] == 2
    assert gate(policy, [missing], receipts, out, now) == (2, "there is no model none\n")
    assert gate(policy, models, [missing], out, now) == (2, "there is no receipt none\n")
    assert gate(policy, [], receipts, out, now)[0] == 2
    assert not out.exists()


def test_a_file_that_cannot_be_read_is_3(tmp_path):
    policy, _, receipts, out, now = given(tmp_path, run())
    code, text = gate(policy, [tmp_path], receipts, out, now)  # a folder is no model
    assert (code, text.startswith("could not decide")) == (3, True)
    assert str(tmp_path) not in text


def test_a_decision_that_cannot_be_written_is_3_and_never_allow(tmp_path):
    policy, models, receipts, _, now = given(tmp_path, run())
    (tmp_path / "taken").write_text("a file where a folder must be")
    code, text = gate(policy, models, receipts, tmp_path / "taken" / "decision.json", now)
    assert code == 3
    assert "ALLOW" not in text


def test_a_huge_receipt_is_refused_and_not_read_whole(tmp_path):
    policy, models, _, out, now = given(tmp_path)
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    code, text = gate(policy, models, [path], out, now)
    assert code == 1
    assert "more than the limit" in text


def test_no_machine_path_enters_the_decision(tmp_path):
    arguments = given(tmp_path, run())
    code, text = gate(*arguments)
    assert code == 0
    assert str(tmp_path) not in text + arguments[3].read_text()


def test_paths_as_typed_where_they_are_relative(tmp_path, monkeypatch):
    arguments = given(tmp_path, run())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "receipt-0.json").rename(tmp_path / "edited.json")
    (tmp_path / "edited.json").write_bytes(b"{}")
    code, text = gate(
        arguments[0], arguments[1], [type(tmp_path)("edited.json")], arguments[3], datetime(2026, 11, 30, tzinfo=UTC)
    )
    assert code == 1
    assert "edited.json: " in text
