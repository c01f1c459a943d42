"""DSSE v1 envelopes signed with Ed25519 (github.com/secure-systems-lab/dsse).

The signature covers the payload type and the payload's bytes, so neither can be swapped. `keyid` is a hint that anyone
can write: verification tries every trusted key and ignores it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Meta, Struct

from reports import strict_json
from reports.digests import canonical
from reports.keys import key_id

__all__ = [
    "PAYLOAD_TYPE",
    "EnvelopeError",
    "MalformedEnvelopeError",
    "PayloadTypeError",
    "SignatureError",
    "Verified",
    "pre_authentication_encoding",
    "sign",
    "unsigned",
    "verify",
]

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_MAX_SIGNATURES = 16


class EnvelopeError(Exception):
    """An envelope that proves nothing.

    EnvelopeError
     x MalformedEnvelopeError  the bytes are no DSSE envelope
     x PayloadTypeError        it carries something other than an in-toto statement
     x SignatureError          no trusted key signed what it carries
    """


class MalformedEnvelopeError(EnvelopeError):
    """The bytes are no DSSE envelope."""


class PayloadTypeError(EnvelopeError):
    """The envelope carries something other than an in-toto statement."""


class SignatureError(EnvelopeError):
    """No trusted key signed what the envelope carries."""


class _Signature(Struct, frozen=True, forbid_unknown_fields=True):
    sig: str
    keyid: str = ""


class _Envelope(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    payload: str
    payload_type: str
    signatures: Annotated[tuple[_Signature, ...], Meta(max_length=_MAX_SIGNATURES)]


class Verified(Struct, frozen=True):
    """A payload that a trusted key signed, with the names under which the policy trusts those keys."""

    payload: bytes
    signers: frozenset[str]


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed: `DSSEv1`, then type and payload, each after its length in bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(payload: bytes, key: Ed25519PrivateKey) -> bytes:
    """Wrap and sign an in-toto statement; returns the envelope's bytes."""
    signature = key.sign(pre_authentication_encoding(PAYLOAD_TYPE, payload))
    entry = {"keyid": key_id(key.public_key()), "sig": base64.b64encode(signature).decode()}
    return _write(payload, [entry])


def unsigned(payload: bytes) -> bytes:
    """Wrap a statement without a signature: `"signatures": []` says so, and the gate refuses it."""
    return _write(payload, [])


def _write(payload: bytes, signatures: list[dict[str, str]]) -> bytes:
    encoded = base64.b64encode(payload).decode()
    return canonical({"payload": encoded, "payloadType": PAYLOAD_TYPE, "signatures": signatures}) + b"\n"


def verify(data: bytes, trusted: Mapping[str, Sequence[Ed25519PublicKey]]) -> Verified:
    """Return the payload if a trusted key signed it; `trusted` maps a signer's name to its keys.

    Raises MalformedEnvelopeError, PayloadTypeError or SignatureError. The payload is not looked into.
    """
    envelope = _parse(data)
    payload = _base64(envelope.payload, "payload")
    if envelope.payload_type != PAYLOAD_TYPE:
        message = f"the envelope's payload type is {envelope.payload_type[:80]!r}, not {PAYLOAD_TYPE}"
        raise PayloadTypeError(message)
    if not envelope.signatures:
        message = "the receipt is not signed: run again with a key (`racegate keygen` makes one)"
        raise SignatureError(message)
    signed = pre_authentication_encoding(envelope.payload_type, payload)
    signatures = [_base64(entry.sig, "signature") for entry in envelope.signatures]
    signers = frozenset(name for name, keys in trusted.items() if _any_verifies(signatures, keys, signed))
    if not signers:
        message = "no key that the policy trusts signed these bytes: they were edited, or another key signed them"
        raise SignatureError(message)
    return Verified(payload, signers)


def _parse(data: bytes) -> _Envelope:
    try:
        return msgspec.convert(strict_json.loads(data), _Envelope)
    except (strict_json.StrictJsonError, msgspec.ValidationError) as error:
        message = f"not a DSSE envelope: {error}"
        raise MalformedEnvelopeError(message) from None


def _base64(text: str, what: str) -> bytes:
    # DSSE lets a producer choose the standard or the URL-safe alphabet, and asks a verifier to take both.
    standard = text.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(standard, validate=True)
    except (binascii.Error, ValueError):
        message = f"not a DSSE envelope: the {what} is not base64"
        raise MalformedEnvelopeError(message) from None


def _any_verifies(signatures: list[bytes], keys: Sequence[Ed25519PublicKey], signed: bytes) -> bool:
    return any(_verifies(key, signature, signed) for key in keys for signature in signatures)


def _verifies(key: Ed25519PublicKey, signature: bytes, signed: bytes) -> bool:
    try:
        key.verify(signature, signed)
    except InvalidSignature:
        return False
    return True
