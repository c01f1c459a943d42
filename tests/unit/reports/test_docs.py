"""The documents say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from gate_cases import write_policy
from run_records import failing_run

from reports import schema
from reports.files import run_files
from reports.gate.refusal import Code
from reports.policy import GatePolicy, LoadedPolicy, load_policy

DOCS = Path(__file__).parents[3] / "docs"


def test_the_gate_document_lists_every_refusal_and_no_other():
    listed = re.findall(r"^\| `([A-Z_]+)` \|", (DOCS / "gate.md").read_text(), re.MULTILINE)
    assert listed == [str(code) for code in Code]


def test_the_policy_of_the_document_is_valid_and_shows_every_table(tmp_path):
    example = re.search(r"```toml\n(.*?)```", (DOCS / "gate.md").read_text(), re.DOTALL)[1]
    loaded = load_policy(write_policy(tmp_path, example))
    assert isinstance(loaded, LoadedPolicy)
    assert set(re.findall(r"^\[+(\w+)", example, re.MULTILINE)) == {
        "trust",
        "freshness",
        "harness",
        "require",
        "waiver",
    }
    assert {field.name for field in msgspec.structs.fields(GatePolicy)} <= set(re.findall(r"\w+", example))


def test_the_receipt_document_names_every_field_and_file():
    text = re.sub(r"```.*?```", "", (DOCS / "receipts.md").read_text(), flags=re.DOTALL)
    words = set(re.findall(r"`([^`]+)`", text))
    for part in vars(schema).values():
        if isinstance(part, type) and issubclass(part, schema.Part):
            missing = {field.encode_name for field in msgspec.structs.fields(part)} - words
            assert not missing, (part.__name__, missing)
    assert set(run_files(failing_run())) <= words
    assert schema.PREDICATE_TYPE in words
