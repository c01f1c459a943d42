from __future__ import annotations

import base64
import json

import pytest
from gate_cases import KEY, OTHER_KEY, public_pem
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, SSlibKey

from reports import envelope
from reports.envelope import MalformedEnvelopeError, PayloadTypeError, SignatureError
from reports.keys import key_id

PAYLOAD = b'{"_type":"https://in-toto.io/Statement/v1"}'
TRUSTED = {"lab": (OTHER_KEY.public_key(), KEY.public_key())}


def edited(**changes) -> bytes:
    return json.dumps({**json.loads(envelope.sign(PAYLOAD, KEY)), **changes}).encode()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_what_was_signed_comes_back_with_the_signer():
    verified = envelope.verify(
        envelope.sign(PAYLOAD, KEY), {"lab": (KEY.public_key(),), "x": (OTHER_KEY.public_key(),)}
    )
    assert (verified.payload, verified.signers) == (PAYLOAD, {"lab"})


def test_the_encoding_that_is_signed_is_the_one_of_the_specification():
    # The example of the DSSE protocol document.
    assert envelope.pre_authentication_encoding("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_lengths_are_in_bytes():
    assert envelope.pre_authentication_encoding("é", "é".encode()) == b"DSSEv1 2 \xc3\xa9 2 \xc3\xa9"


def test_an_unsigned_envelope_says_so_and_does_not_verify():
    data = envelope.unsigned(PAYLOAD)
    assert json.loads(data)["signatures"] == []
    with pytest.raises(SignatureError, match="not signed"):
        envelope.verify(data, TRUSTED)


@pytest.mark.parametrize("place", range(0, len(PAYLOAD), 7))
def test_any_edited_byte_breaks_the_signature(place):
    payload = bytearray(PAYLOAD)
    payload[place] ^= 1
    with pytest.raises(SignatureError):
        envelope.verify(edited(payload=encoded(bytes(payload))), TRUSTED)


def test_another_payload_type_is_refused_before_its_signature_counts():
    with pytest.raises(PayloadTypeError):
        envelope.verify(edited(payloadType="text/plain"), TRUSTED)


def test_a_borrowed_keyid_helps_nobody():
    data = json.loads(envelope.sign(PAYLOAD, OTHER_KEY))
    data["signatures"][0]["keyid"] = key_id(KEY.public_key())
    with pytest.raises(SignatureError):
        envelope.verify(json.dumps(data).encode(), {"lab": (KEY.public_key(),)})


def test_a_missing_or_wrong_keyid_harms_nobody():
    signature = json.loads(envelope.sign(PAYLOAD, KEY))["signatures"][0]["sig"]
    for entry in ({"sig": signature}, {"sig": signature, "keyid": "nonsense"}):
        assert envelope.verify(edited(signatures=[entry]), TRUSTED).payload == PAYLOAD


def test_one_good_signature_among_others_is_enough():
    other = json.loads(envelope.sign(PAYLOAD, OTHER_KEY))["signatures"][0]
    own = json.loads(envelope.sign(PAYLOAD, KEY))["signatures"][0]
    assert envelope.verify(edited(signatures=[other, own]), {"lab": (KEY.public_key(),)}).signers == {"lab"}


def test_the_url_safe_alphabet_is_read_too():
    payload = b"\xfb\xff\xfe?>"
    data = json.loads(envelope.sign(payload, KEY))
    assert set(data["payload"]) & set("+/")
    for field in (data, data["signatures"][0]):
        name = "payload" if "payload" in field else "sig"
        field[name] = field[name].replace("+", "-").replace("/", "_")
    assert envelope.verify(json.dumps(data).encode(), TRUSTED).payload == payload


BROKEN = {
    "empty": b"",
    "truncated": envelope.sign(PAYLOAD, KEY)[:-5],
    "list": b"[]",
    "duplicate key": envelope.sign(PAYLOAD, KEY).replace(b'{"payload"', b'{"payload":"","payload"', 1),
    "unknown field": edited(extra="x"),
    "payload no base64": edited(payload="%%%"),
    "payload unpadded": edited(payload="YQ"),
    "signature no base64": edited(signatures=[{"sig": "%%%"}]),
    "signatures no list": edited(signatures="none"),
    "too many signatures": edited(signatures=[{"sig": ""}] * 17),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_envelope_is_malformed(data):
    with pytest.raises(MalformedEnvelopeError):
        envelope.verify(data, TRUSTED)


def test_ours_verifies_with_securesystemslib():
    theirs = Envelope.from_dict(json.loads(envelope.sign(PAYLOAD, KEY)))
    key = SSlibKey(
        key_id(KEY.public_key()), "ed25519", "ed25519", {"public": KEY.public_key().public_bytes_raw().hex()}
    )
    assert list(theirs.verify([key], 1)) == [key.keyid]
    assert theirs.payload == PAYLOAD


def test_theirs_verifies_with_ours():
    made = Envelope(PAYLOAD, envelope.PAYLOAD_TYPE, {})
    made.sign(CryptoSigner(KEY))
    verified = envelope.verify(json.dumps(made.to_dict()).encode(), {"lab": (KEY.public_key(),)})
    assert (verified.payload, verified.signers) == (PAYLOAD, {"lab"})


def test_the_public_key_is_subject_public_key_info():
    assert public_pem().startswith(b"-----BEGIN PUBLIC KEY-----")
