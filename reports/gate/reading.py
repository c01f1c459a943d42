"""From bytes to testimony: signature first, then syntax, then schema. Nothing unsigned is ever looked into."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

import msgspec

from reports import envelope, strict_json
from reports.digests import sha256_hex
from reports.gate.question import Testimony
from reports.gate.refusal import Code, Refusal
from reports.instants import parse_instant
from reports.policy import LoadedPolicy
from reports.schema import PREDICATE_TYPE, Predicate, Statement

__all__ = ["read_receipt"]


def read_receipt(name: str, data: bytes, loaded: LoadedPolicy) -> Testimony | list[Refusal]:
    """Return what a receipt testifies, or why it cannot be believed."""
    verified = _verify(data, loaded)
    if isinstance(verified, envelope.Verified):
        read = _read_statement(name, verified)
        if isinstance(read, Testimony):
            return _speaks_for_class(read, loaded) or read
        verified = [read]
    return [Refusal(code=code, message=message, receipt=name) for code, message in verified]


def _verify(data: bytes, loaded: LoadedPolicy) -> envelope.Verified | list[tuple[Code, str]]:
    try:
        return envelope.verify(data, loaded.keys)
    except envelope.SignatureError as error:
        return [(Code.SIGNATURE, str(error))]
    except envelope.PayloadTypeError as error:
        return [(Code.PAYLOAD_TYPE, f"{error}: this is no receipt")]
    except envelope.MalformedEnvelopeError as error:
        # Both are true and both matter: the file is damaged, and so there is no signature to believe.
        return [
            (Code.MALFORMED, f"{error}: copy the file again"),
            (Code.SIGNATURE, "no signature can be read from a damaged envelope"),
        ]


def _read_statement(name: str, verified: envelope.Verified) -> Testimony | tuple[Code, str]:
    try:
        data = strict_json.loads(verified.payload)
        if (kind := _predicate_type(data)) != PREDICATE_TYPE:
            return (
                Code.PREDICATE_TYPE,
                f"the statement is a {str(kind)[:80]!r}, not a receipt of racegate ({PREDICATE_TYPE})",
            )
        statement = msgspec.convert(data, Statement)
        started, finished = _times(statement.predicate)
        _check_unique(statement.predicate)
    except (strict_json.StrictJsonError, msgspec.ValidationError, ValueError) as error:
        return Code.MALFORMED, f"the statement breaks the schema of a receipt: {error}"
    return Testimony(
        name=name,
        receipt_id=sha256_hex(verified.payload),
        model=statement.subject[0].digest.sha256,
        signers=verified.signers,
        started=started,
        finished=finished,
        predicate=statement.predicate,
    )


def _predicate_type(data: Any) -> Any:
    fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    # Without the field it is the schema that complains, by name.
    return fields.get("predicateType", PREDICATE_TYPE)


def _times(predicate: Predicate) -> tuple[datetime, datetime]:
    started, finished = parse_instant(predicate.started_on), parse_instant(predicate.finished_on)
    if started > finished:
        message = "it finished before it started"
        raise ValueError(message)
    return started, finished


def _check_unique(predicate: Predicate) -> None:
    """A name listed twice could show a PASS to one check and a FAIL to another."""
    groups = {
        "scenarios": [entry.id for entry in predicate.scenarios],
        "controls": [entry.name for entry in predicate.controls],
        "placement": [part.on for part in predicate.delegate.placement],
        "evidence": [entry.name for entry in predicate.evidence],
    }
    for entry in (*predicate.scenarios, *(control.scenario for control in predicate.controls)):
        groups[f"the invariants of {entry.id}"] = [tally.id for tally in entry.invariants]
    for where, names in groups.items():
        if len(set(names)) != len(names):
            message = f"{where} list the same name twice"
            raise ValueError(message)


def _speaks_for_class(testimony: Testimony, loaded: LoadedPolicy) -> list[Refusal]:
    spoken = testimony.predicate.device.device_class
    signers = sorted(testimony.signers)
    if any(spoken in loaded.policy.trust[signer].device_classes for signer in signers):
        return []
    message = (
        f"signed by {', '.join(signers)}, which the policy does not trust for the device class {spoken!r}: "
        f"run on a device of that signer, or extend its device_classes"
    )
    return [Refusal(code=Code.SIGNER_NOT_FOR_DEVICE_CLASS, message=message, receipt=testimony.name)]
