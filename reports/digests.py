"""Canonical JSON and the digests that receipts and the gate both compute."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import rfc8785

__all__ = ["canonical", "device_fingerprint", "exact", "sha256_hex", "suite_digest"]

_MIB_PER_GIB = 1024
_MAX_INTEGER = 2**53 - 1
_Value = TypeVar("_Value")


def canonical(value: Any) -> bytes:
    """Write JSON data as RFC 8785 says: one byte sequence for one value, so that digests can be compared."""
    return rfc8785.dumps(value)


def exact(value: _Value) -> _Value | str:
    """The value itself, or its decimal text where it is an integer that a JSON parser with doubles would round."""
    return str(value) if isinstance(value, int) and abs(value) > _MAX_INTEGER else value


def sha256_hex(data: bytes) -> str:
    """The sha256 in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def suite_digest(suite_id: str, version: str, scenarios: Iterable[tuple[str, str]]) -> str:
    """Digest a suite: its id, its version and the (scenario id, scenario digest) pairs, in whatever order they ran.

    The gate computes it again from the scenarios listed: no receipt can claim a suite that it did not run.
    """
    pairs = sorted([name, digest] for name, digest in scenarios)
    return sha256_hex(canonical({"id": suite_id, "version": version, "scenarios": pairs}))


def device_fingerprint(
    *,
    device_class: str,
    os: str,
    cpu: Mapping[str, Any],
    memory_mib: int,
    accelerators: Iterable[str],
    virtualized: str,
) -> str:
    """Digest what makes a device one of its class, so that two identical phones have one fingerprint.

    The kernel and the cgroup limits are left out, for updates and containers change them on the same hardware. Memory
    is rounded up to GiB, for firmware reserves a few MiB more or less on identical devices.
    """
    fields = {
        "class": device_class,
        "os": os,
        "cpu": dict(cpu),
        "memoryGiB": -(-memory_mib // _MIB_PER_GIB),
        "accelerators": sorted(accelerators),
        "virtualized": virtualized,
    }
    return sha256_hex(canonical(fields))
