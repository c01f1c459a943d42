"""The gate policy: what a release demands of its receipts. A closed schema; every problem has the key's name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec import Meta, Struct
from packaging.version import InvalidVersion, Version

from reports.digests import sha256_hex
from reports.instants import parse_duration, parse_instant
from reports.keys import KeyFileError, load_public_key

__all__ = [
    "DelegateDemand",
    "Freshness",
    "GatePolicy",
    "HarnessDemand",
    "LoadedPolicy",
    "PolicyError",
    "Require",
    "RuntimeDemand",
    "ServiceDemand",
    "SuiteDemand",
    "Trust",
    "Waiver",
    "load_policy",
    "parse_policy",
]

Sha256: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Name: TypeAlias = Annotated[str, Meta(min_length=1)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Value = TypeVar("Value")


class PolicyError(ValueError):
    """The policy cannot be used; the text is one line and names the key."""


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every table of a policy is: frozen and closed."""


class Trust(Table, frozen=True, kw_only=True):
    """Keys, by path relative to the policy file, and the device classes that they may speak for."""

    keys: Annotated[tuple[Name, ...], Meta(min_length=1)]
    device_classes: Annotated[tuple[Name, ...], Meta(min_length=1)]


class Freshness(Table, frozen=True, kw_only=True):
    """How old a receipt may be, and whether it must answer a challenge."""

    max_age: str
    max_clock_skew: str = "PT5M"
    challenge: Literal["optional", "required"] = "optional"


class HarnessDemand(Table, frozen=True, kw_only=True):
    """Which racegate may have run."""

    min_version: str
    allow_dirty: bool = False


class RuntimeDemand(Table, frozen=True, kw_only=True):
    """The runtime; without `version` any version will do."""

    name: Name
    version: str | None = None


class DelegateDemand(Table, frozen=True, kw_only=True):
    """The delegate, and which share of the graph's nodes it must have run (a decimal, as text)."""

    name: Name
    min_node_share: str = "1.0"
    fallback: Literal["deny", "allow"] = "deny"


class ServiceDemand(Table, frozen=True, kw_only=True):
    """The service; what is not named is not compared."""

    kind: Name
    name: str | None = None
    capacity: int | None = None
    slots: int | None = None
    source_digest: Sha256 | None = None


class SuiteDemand(Table, frozen=True, kw_only=True):
    """The suite; `digest` pins every scenario and its source."""

    id: Name
    digest: Sha256 | None = None


class Require(Table, frozen=True, kw_only=True):
    """One thing that must be shown before a release. `model_sha256` says of which model, where several are given."""

    id: Name
    model_sha256: Sha256 | None = None
    runtime: RuntimeDemand
    delegate: DelegateDemand
    device_class: Name
    service: ServiceDemand
    suite: SuiteDemand
    scenarios: tuple[Name, ...] = ()
    capabilities: tuple[Name, ...] = ()
    invariants: Annotated[tuple[Name, ...], Meta(min_length=1)]
    min_executions_per_scenario: Positive
    distinct_seeds: Positive = 1


class Waiver(Table, frozen=True, kw_only=True):
    """A person's word that one scenario need not pass, until a date, for one model where `model_sha256` is given."""

    scenario: Name
    until: str
    reason: Name
    approver: Name
    model_sha256: Sha256 | None = None


class GatePolicy(Table, frozen=True, kw_only=True):
    """The file as written."""

    schema: Literal["gate-policy/1"]
    id: Name
    expires: str
    trust: Annotated[Mapping[Name, Trust], Meta(min_length=1)]
    freshness: Freshness
    harness: HarnessDemand
    require: tuple[Require, ...] = ()
    waiver: tuple[Waiver, ...] = ()


class LoadedPolicy(Struct, frozen=True, kw_only=True):
    """A policy that was checked, with its texts read: times, durations, version, shares and keys."""

    policy: GatePolicy
    sha256: str
    keys: Mapping[str, tuple[Ed25519PublicKey, ...]]
    expires: datetime
    max_age: timedelta
    max_clock_skew: timedelta
    min_version: Version
    min_node_shares: Mapping[str, Decimal]
    waivers_until: tuple[datetime, ...]


def load_policy(path: Path) -> LoadedPolicy:
    """Read a policy and the keys it names, relative to its folder. Raises PolicyError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"cannot read the policy {path.name}: {error.strerror}"
        raise PolicyError(message) from None
    return parse_policy(data, path.parent)


def parse_policy(data: bytes, folder: Path) -> LoadedPolicy:
    """Check a policy's text; `folder` is where its key paths start. Raises PolicyError."""
    policy = _convert(data)
    _check_requirements(policy)
    return LoadedPolicy(
        policy=policy,
        sha256=sha256_hex(data),
        keys={name: _keys(name, trust, folder) for name, trust in policy.trust.items()},
        expires=_read("expires", policy.expires, parse_instant),
        max_age=_read("freshness.max_age", policy.freshness.max_age, parse_duration),
        max_clock_skew=_read("freshness.max_clock_skew", policy.freshness.max_clock_skew, parse_duration),
        min_version=_read("harness.min_version", policy.harness.min_version, _version),
        min_node_shares={
            require.id: _read(f"require[{require.id}].delegate.min_node_share", require.delegate.min_node_share, _share)
            for require in policy.require
        },
        waivers_until=tuple(
            _read(f"waiver[{waiver.scenario}].until", waiver.until, parse_instant) for waiver in policy.waiver
        ),
    )


def _convert(data: bytes) -> GatePolicy:
    try:
        return msgspec.convert(tomllib.loads(data.decode()), GatePolicy)
    except UnicodeDecodeError:
        message = "the policy is not UTF-8 text"
    except tomllib.TOMLDecodeError as error:
        message = f"the policy is not TOML: {error}"
    except msgspec.ValidationError as error:
        message = f"the policy breaks its schema: {_key_name(str(error))}"
    raise PolicyError(message)


def _key_name(text: str) -> str:
    """Turn msgspec's `Expected ... - at `$.require[0].suite`` into `require[0].suite: expected ...`."""
    problem, _, place = text.partition(" - at ")
    key = place.strip("`").removeprefix("$").removeprefix(".")
    return f"{key}: {problem}" if key else problem


def _check_requirements(policy: GatePolicy) -> None:
    seen: set[str] = set()
    for require in policy.require:
        if require.id in seen:
            message = f"require.id: {require.id!r} is there twice"
            raise PolicyError(message)
        seen.add(require.id)
        if require.suite.digest is None and not require.scenarios:
            # Without either a receipt of one easy scenario would do.
            message = f"require[{require.id}].suite.digest: missing; pin the suite, or list `scenarios`"
            raise PolicyError(message)


def _keys(name: str, trust: Trust, folder: Path) -> tuple[Ed25519PublicKey, ...]:
    try:
        return tuple(load_public_key(folder / key) for key in trust.keys)
    except KeyFileError as error:
        message = f"trust.{name}.keys: {error}"
        raise PolicyError(message) from None


def _read(key: str, text: str, reader: Callable[[str], Value]) -> Value:
    try:
        return reader(text)
    except ValueError as error:
        message = f"{key}: {error}"
        raise PolicyError(message) from None


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        message = f"{text!r} is not a version like 0.1.0"
        raise ValueError(message) from None


def _share(text: str) -> Decimal:
    if not re.fullmatch(r"(0(\.\d{1,9})?|1(\.0{1,9})?)", text, re.ASCII):
        message = f'{text!r} is not a share from "0" to "1.0", written as text'
        raise ValueError(message)
    return Decimal(text)
