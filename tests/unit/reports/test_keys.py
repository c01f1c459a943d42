from __future__ import annotations

import hashlib
import stat

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from reports.keys import KeyFileError, generate_key, key_id, load_private_key, load_public_key


def test_a_pair_is_made_and_belongs_together(tmp_path):
    public = generate_key(tmp_path / "lab.pem")
    assert public == tmp_path / "lab.pub.pem"
    private_key, public_key = load_private_key(tmp_path / "lab.pem"), load_public_key(public)
    public_key.verify(private_key.sign(b"x"), b"x")
    assert stat.S_IMODE((tmp_path / "lab.pem").stat().st_mode) == 0o600
    assert (tmp_path / "lab.pem").read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----")


def test_the_key_id_is_the_digest_of_the_der(tmp_path):
    key = load_public_key(generate_key(tmp_path / "lab.pem"))
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    assert key_id(key) == hashlib.sha256(der).hexdigest()


@pytest.mark.parametrize("existing", ["lab.pem", "lab.pub.pem"])
def test_a_key_is_never_overwritten(tmp_path, existing):
    (tmp_path / existing).write_text("precious")
    with pytest.raises(KeyFileError, match=f"{existing} is there already"):
        generate_key(tmp_path / "lab.pem")
    assert [path.name for path in tmp_path.iterdir()] == [existing]
    assert (tmp_path / existing).read_text() == "precious"


def test_a_name_without_suffix_and_a_folder_that_is_not_there(tmp_path):
    assert generate_key(tmp_path / "lab").name == "lab.pub.pem"
    with pytest.raises(KeyFileError, match=r"cannot write lab\.pem: No such file") as caught:
        generate_key(tmp_path / "nowhere" / "lab.pem")
    assert str(tmp_path) not in str(caught.value)


def ec_pem(kind: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    if kind == "public":
        return key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


@pytest.mark.parametrize(
    ("data", "says"),
    [(None, "cannot read the key"), (b"", "no unencrypted private key"), (ec_pem("private"), "not Ed25519")],
)
def test_one_clear_line_for_a_private_key_that_is_none(tmp_path, data, says):
    path = tmp_path / "lab.pem"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(KeyFileError, match=says) as caught:
        load_private_key(path)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "says"), [(None, "cannot read the key"), (b"x", "no public key"), (ec_pem("public"), "not Ed25519")]
)
def test_one_clear_line_for_a_public_key_that_is_none(tmp_path, data, says):
    path = tmp_path / "lab.pub.pem"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(KeyFileError, match=says):
        load_public_key(path)


def test_an_encrypted_private_key_is_refused(tmp_path):
    generate_key(tmp_path / "lab.pem")
    key = load_private_key(tmp_path / "lab.pem")
    locked = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
    )
    (tmp_path / "locked.pem").write_bytes(locked)
    with pytest.raises(KeyFileError, match="no unencrypted private key"):
        load_private_key(tmp_path / "locked.pem")
