"""Ed25519 keys on disk: private as PKCS#8 PEM that only its owner reads, public as SubjectPublicKeyInfo PEM."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from reports.digests import sha256_hex

__all__ = ["KeyFileError", "generate_key", "key_id", "load_private_key", "load_public_key"]


class KeyFileError(Exception):
    """A key file cannot be written or read; the text is one line and names the file by its base name alone."""


def key_id(key: Ed25519PublicKey) -> str:
    """The sha256, in hex, of the public key's DER: a hint to find a key by, never a reason to trust it."""
    encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    return sha256_hex(key.public_bytes(encoding, form))


def generate_key(private_path: Path) -> Path:
    """Make a key pair: `NAME.pem` (mode 0600) and `NAME.pub.pem` beside it, whose path is returned.

    Raises KeyFileError where either file exists: overwriting a key would orphan the receipts signed with it.
    """
    public_path = (
        private_path.with_suffix(".pub.pem") if private_path.suffix == ".pem" else Path(f"{private_path}.pub.pem")
    )
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    if public_path.exists():
        message = f"{public_path.name} is there already: choose another name, a key is never overwritten"
        raise KeyFileError(message)
    _create(private_path, private, 0o600)
    _create(public_path, public, 0o644)
    return public_path


def _create(path: Path, data: bytes, mode: int) -> None:
    try:
        # O_EXCL and the mode go into the one call that creates the file: others can read it at no time.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        message = f"{path.name} is there already: choose another name, a key is never overwritten"
        raise KeyFileError(message) from None
    except OSError as error:
        message = f"cannot write {path.name}: {error.strerror}"
        raise KeyFileError(message) from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def load_private_key(path: Path) -> Ed25519PrivateKey:
    """Read an unencrypted Ed25519 private key. Raises KeyFileError."""
    data = _read(path)
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        message = f"{path.name} is no unencrypted private key in PEM: make one with `racegate keygen`"
        raise KeyFileError(message) from None
    if not isinstance(key, Ed25519PrivateKey):
        message = f"{path.name} is a private key, but not Ed25519: make one with `racegate keygen`"
        raise KeyFileError(message)
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Read an Ed25519 public key. Raises KeyFileError."""
    data = _read(path)
    try:
        key = serialization.load_pem_public_key(data)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        message = f"{path.name} is no public key in PEM"
        raise KeyFileError(message) from None
    if not isinstance(key, Ed25519PublicKey):
        message = f"{path.name} is a public key, but not Ed25519"
        raise KeyFileError(message)
    return key


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"cannot read the key {path.name}: {error.strerror}"
        raise KeyFileError(message) from None
