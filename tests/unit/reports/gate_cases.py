"""A policy that allows `run_records.run()`, and ways to spoil either."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from run_records import MODEL, run

from harness.verdict import RunRecord
from reports import envelope
from reports.digests import canonical
from reports.gate.decision import Decision, decide
from reports.policy import parse_policy
from reports.predicate import run_suite_digest, statement

NOW = datetime(2026, 11, 30, tzinfo=UTC)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))

POLICY = f"""
schema = "gate-policy/1"
id = "camera-release"
expires = "2027-06-30T00:00:00Z"
[trust.lab-linux]
keys = ["keys/lab-linux.pub.pem"]
device_classes = ["linux-x86_64-cpu"]
[freshness]
max_age = "P14D"
max_clock_skew = "PT5M"
challenge = "optional"
[harness]
min_version = "0.1.0"
allow_dirty = false
[[require]]
id = "cpu"
runtime = {{ name = "onnxruntime", version = "1.32.0" }}
delegate = {{ name = "CPUExecutionProvider", min_node_share = "1.0", fallback = "deny" }}
device_class = "linux-x86_64-cpu"
service = {{ kind = "queue", capacity = 4 }}
suite = {{ id = "release", digest = "{run_suite_digest(run())}" }}
scenarios = ["many-clients", "queue-full"]
capabilities = ["running_cancel"]
invariants = ["own-output", "terminal-once", "no-delivery-after-cancel"]
min_executions_per_scenario = 100
distinct_seeds = 1
"""

WAIVER = """
[[waiver]]
scenario = "many-clients"
until = "2026-12-31T00:00:00Z"
reason = "known, fixed in 1.33"
approver = "release manager"
"""


def public_pem(key: Ed25519PrivateKey = KEY) -> bytes:
    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def write_policy(folder: Path, text: str = POLICY) -> Path:
    """The policy with its keys beside it."""
    (folder / "keys").mkdir(exist_ok=True)
    (folder / "keys" / "lab-linux.pub.pem").write_bytes(public_pem())
    path = folder / "gate-policy.toml"
    path.write_text(text)
    return path


def signed(record: RunRecord, key: Ed25519PrivateKey = KEY) -> bytes:
    return signed_data(statement(record), key)


def signed_data(data: Any, key: Ed25519PrivateKey = KEY) -> bytes:
    return envelope.sign(canonical(data), key)


def signed_text(text: str) -> bytes:
    return envelope.sign(text.encode(), KEY)


def statement_text(record: RunRecord | None = None) -> str:
    return canonical(statement(record or run())).decode()


def edited_envelope(data: bytes, **changes: Any) -> bytes:
    return json.dumps({**json.loads(data), **changes}).encode()


def judge(
    folder: Path, *receipts: bytes, policy: str = POLICY, models: tuple[str, ...] = (MODEL,), **options: Any
) -> Decision:
    path = write_policy(folder, policy)
    loaded = parse_policy(path.read_bytes(), folder)
    named = [(f"receipt-{number}", data) for number, data in enumerate(receipts, 1)]
    return decide(loaded, named, models, options.pop("now", NOW), **options)


def codes(decision: Decision) -> set[str]:
    return {str(refusal.code) for refusal in decision.refusals}


def refuses(decision: Decision, *expected: str) -> None:
    """Denied for these codes and no other, each with one line."""
    assert decision.decision == "DENY"
    assert codes(decision) == set(expected), [refusal.message for refusal in decision.refusals]
    assert all("\n" not in refusal.message and refusal.message for refusal in decision.refusals)


def suite_of(record: RunRecord) -> str:
    """The policy, pinning the suite of this record instead."""
    return POLICY.replace(run_suite_digest(run()), run_suite_digest(record))
