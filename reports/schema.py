"""The receipt as data: an in-toto Statement v1 whose predicate has these fields and no other.

Scalars are strings, integers and booleans; there are no floats and no nulls. An optional field is left out, never null.
A verdict is a plain string here, so that the gate can name one that it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = [
    "PREDICATE_TYPE",
    "RECEIPT_VERSION",
    "STATEMENT_TYPE",
    "CapacityEntry",
    "ControlEntry",
    "CopyEntry",
    "Cpu",
    "Delegate",
    "Device",
    "Digest",
    "Evidence",
    "Exploration",
    "Fault",
    "Harness",
    "Invariant",
    "Placement",
    "Predicate",
    "Runtime",
    "ScenarioEntry",
    "Service",
    "SlopeEntry",
    "Statement",
    "Subject",
    "Suite",
    "ViolationEntry",
]

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:racegate:attestation/receipt/v1"
RECEIPT_VERSION = 1

Sha256: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Instant: TypeAlias = Annotated[
    str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z\Z")
]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Bound: TypeAlias = Annotated[int, Meta(ge=-1)]
RunId: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z", max_length=128)]
Name: TypeAlias = Annotated[str, Meta(min_length=1)]
Setting: TypeAlias = bool | int | str


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What every part of a receipt is: frozen, closed, in lowerCamelCase."""


class Digest(Part, frozen=True, kw_only=True):
    """A digest by algorithm; sha256 is the only one that the gate compares."""

    sha256: Sha256


class Subject(Part, frozen=True, kw_only=True):
    """What the receipt is about: always the model, matched by digest only."""

    name: Literal["model"]
    digest: Digest


class Runtime(Part, frozen=True, kw_only=True):
    """The runtime that ran; `artifacts` maps the base name of each native library to its sha256."""

    name: Name
    version: Name
    build: str
    artifacts: Mapping[str, Sha256]
    options: Mapping[str, Setting]


class Placement(Part, frozen=True, kw_only=True):
    """How many graph nodes one executor ran, in how many partitions."""

    on: Name
    nodes: Count
    partitions: Count


class Delegate(Part, frozen=True, kw_only=True):
    """The delegate that was asked for and what took part. `evidence` says how that was learned."""

    requested: Name
    actual: str
    graph_nodes: Count
    placement: tuple[Placement, ...]
    fallback: bool
    fallback_events: Count
    init_error: str | UnsetType = UNSET
    evidence: str


class Cpu(Part, frozen=True, kw_only=True):
    """The processor."""

    arch: str
    model: str
    cores: Count
    isa: tuple[str, ...]


class Device(Part, frozen=True, kw_only=True):
    """The device class; nothing in it tells one device of the class from another."""

    device_class: Name = msgspec.field(name="class")
    os: str
    kernel: str
    cpu: Cpu
    memory_mib: Count = msgspec.field(name="memoryMiB")
    accelerators: tuple[str, ...]
    cgroup_limits: Mapping[str, str]
    virtualized: str
    fingerprint: Sha256


class Service(Part, frozen=True, kw_only=True):
    """The service under test, as effective."""

    name: Name
    source_digest: Sha256
    kind: Name
    capacity: Bound
    slots: Count
    overflow: str
    close_behaviour: str
    delegate_behaviour: str
    capabilities: tuple[str, ...]
    configuration: Mapping[str, Setting]


class SlopeEntry(Part, frozen=True, kw_only=True):
    """Picoseconds per byte: the median over rounds, and an interval that holds the true median at 95 % or more."""

    median_ps_per_byte: int
    low_ps_per_byte: int
    high_ps_per_byte: int
    rounds: Count


class CopyEntry(Part, frozen=True, kw_only=True):
    """What handles and times show of copies when inputs are handed over one way; `notObserved` is what they cannot."""

    how: Name
    statement: Literal["no explicit copy", "explicit copy", "undecided"]
    reason: Name
    same_handle: bool
    hand_over: SlopeEntry | UnsetType = UNSET
    copy: SlopeEntry | UnsetType = UNSET
    sizes: tuple[Count, ...]
    not_observed: tuple[Name, ...]


class CapacityEntry(Part, frozen=True, kw_only=True):
    """The memory that the service needs: weights + for each live request base + perUnit x length, + reserve."""

    weights_bytes: Count
    base_bytes: Count
    per_unit_bytes: Count
    reserve_bytes: Count
    unit: str
    evidence: Name
    not_observed: tuple[Name, ...]


class Suite(Part, frozen=True, kw_only=True):
    """The suite; `digest` can be computed again from the scenarios listed."""

    id: Name
    version: str
    digest: Sha256


class Exploration(Part, frozen=True, kw_only=True):
    """How schedules were chosen; `bound` is -1 where the strategy has none."""

    strategy: str
    seed: str
    bound: Bound
    exhausted: bool


class Fault(Part, frozen=True, kw_only=True):
    """How often one kind of fault was injected."""

    kind: Name
    injected: Count


class Invariant(Part, frozen=True, kw_only=True):
    """How often the premise occurred and how often it was broken; `unknown` says why it could not be judged."""

    id: Name
    checked: Count
    violated: Count
    unknown: str | UnsetType = UNSET


class ViolationEntry(Part, frozen=True, kw_only=True):
    """One broken invariant with the token that replays it."""

    invariant: Name
    replay_token: Name


class ScenarioEntry(Part, frozen=True, kw_only=True):
    """One scenario of the suite, on one model; `next_model` is what it switched to, if outputs tell the two apart.

    `process_looks` is how often another process on the device was asked how it is once a fault had struck; left out
    where none was watched.
    """

    id: Name
    digest: Sha256
    model: Sha256
    next_model: Sha256 | UnsetType = UNSET
    requires: tuple[str, ...]
    native: Literal["atomic", "held"]
    oracle: str
    verdict: str
    executions: Count
    exploration: Exploration | UnsetType = UNSET
    faults: tuple[Fault, ...]
    process_looks: Count | UnsetType = UNSET
    invariants: tuple[Invariant, ...]
    violations: tuple[ViolationEntry, ...]


class ControlEntry(Part, frozen=True, kw_only=True):
    """A cell on a built-in model that must come out as `expected`, for the reason `invariant` where that is given."""

    name: Name
    expected: str
    invariant: str
    scenario: ScenarioEntry


class Harness(Part, frozen=True, kw_only=True):
    """What racegate itself was."""

    version: str
    source_digest: Sha256
    dirty: bool | Literal["unknown"]
    python: str


class Evidence(Part, frozen=True, kw_only=True):
    """A file beside the receipt, by digest."""

    name: Name
    sha256: Sha256


class Predicate(Part, frozen=True, kw_only=True):
    """What ran, on what, and how it came out."""

    receipt_version: Literal[1]
    run_id: RunId
    started_on: Instant
    finished_on: Instant
    challenge: str | UnsetType = UNSET
    mode: Literal["controlled", "stress", "both"]
    attempt: Annotated[int, Meta(ge=1)]
    previous_receipt: Sha256 | UnsetType = UNSET
    interrupted: bool
    runtime: Runtime
    delegate: Delegate
    device: Device
    service: Service
    copies: tuple[CopyEntry, ...] | UnsetType = UNSET
    capacity: CapacityEntry | UnsetType = UNSET
    suite: Suite
    scenarios: tuple[ScenarioEntry, ...]
    controls: tuple[ControlEntry, ...]
    counts: Mapping[str, Count]
    verdict: str
    harness: Harness
    evidence: tuple[Evidence, ...]


class Statement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """An in-toto Statement v1 with one subject."""

    type: Literal["https://in-toto.io/Statement/v1"] = msgspec.field(name="_type")
    subject: Annotated[tuple[Subject, ...], Meta(min_length=1, max_length=1)]
    predicate_type: str
    predicate: Predicate
