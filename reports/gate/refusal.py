"""Why the gate says no: a code for machines and one line for a person."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

__all__ = ["Code", "Refusal"]


class Code(StrEnum):
    """Every refusal; docs/gate.md says what each means and what to do."""

    SIGNATURE = "SIGNATURE"
    PAYLOAD_TYPE = "PAYLOAD_TYPE"
    PREDICATE_TYPE = "PREDICATE_TYPE"
    MALFORMED = "MALFORMED"
    MODEL_DIGEST = "MODEL_DIGEST"
    RUNTIME = "RUNTIME"
    DELEGATE_FELL_BACK = "DELEGATE_FELL_BACK"
    DELEGATE_SHARE = "DELEGATE_SHARE"
    PLACEMENT_INCONSISTENT = "PLACEMENT_INCONSISTENT"
    DEVICE_CLASS = "DEVICE_CLASS"
    SIGNER_NOT_FOR_DEVICE_CLASS = "SIGNER_NOT_FOR_DEVICE_CLASS"
    SERVICE = "SERVICE"
    CAPABILITY = "CAPABILITY"
    HARNESS_VERSION = "HARNESS_VERSION"
    HARNESS_DIRTY = "HARNESS_DIRTY"
    EXPIRED = "EXPIRED"
    FROM_THE_FUTURE = "FROM_THE_FUTURE"
    CHALLENGE = "CHALLENGE"
    SUITE_DIGEST = "SUITE_DIGEST"
    SCENARIO_MISSING = "SCENARIO_MISSING"
    SCENARIO_NOT_PASSED = "SCENARIO_NOT_PASSED"
    UNKNOWN_VERDICT = "UNKNOWN_VERDICT"
    INVARIANT = "INVARIANT"
    TOO_FEW_EXECUTIONS = "TOO_FEW_EXECUTIONS"
    SEEDS = "SEEDS"
    COUNTS_DISAGREE = "COUNTS_DISAGREE"
    VERDICT = "VERDICT"
    NO_RECEIPT = "NO_RECEIPT"
    POLICY_EMPTY = "POLICY_EMPTY"
    POLICY_EXPIRED = "POLICY_EXPIRED"
    WAIVER = "WAIVER"


class Refusal(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reason to deny. `receipt` and `requirement` are empty where the refusal is about neither."""

    code: Code
    message: str
    receipt: str = ""
    requirement: str = ""
