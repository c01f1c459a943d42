"""The line protocol between a supervisor and a worker: JSON Lines, versioned. See `docs/worker-protocol.md`."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from harness.observe.neighbour import Moment
from harness.oracle.expectations import Answer, Expectations, Recipe
from harness.schedule import Schedule
from harness.suite.plan import Cell, ServiceSpec, Share, TargetSpec
from harness.verdict import ServiceRecord

__all__ = [
    "CHUNK_BYTES",
    "LINE_LIMIT",
    "PROTOCOL_VERSION",
    "AdapterParams",
    "CellParams",
    "DescribeParams",
    "Description",
    "ErrorKind",
    "ErrorReport",
    "ExpectationsParams",
    "Hello",
    "HelloParams",
    "MeasureParams",
    "ModelParams",
    "ModelReceived",
    "NeighbourParams",
    "NeighbourReady",
    "Probe",
    "ReplayParams",
    "Reply",
    "Request",
    "Role",
    "ScenarioRecord",
    "ShareParams",
    "encode_line",
]

PROTOCOL_VERSION = 1
LINE_LIMIT = 16 * 1024 * 1024
"""Bytes in one line, either way. A longer line is noise."""
CHUNK_BYTES = 512 * 1024
"""Model bytes in one `model` request, before base64."""

ErrorKind: TypeAlias = Literal["usage", "model", "unavailable", "target", "protocol", "defect"]
"""Whose fault it is: the user's request, the model's bytes, a missing runtime, the target's delegate or runtime, the
peer's messages, or racegate itself."""
Role: TypeAlias = Literal["cells", "oracle"]


class Request(msgspec.Struct, frozen=True):
    """What the supervisor asks. `id` counts up from 1; one request is open at a time."""

    id: int
    op: str
    params: msgspec.Raw = msgspec.Raw(b"{}")


class ErrorReport(msgspec.Struct, frozen=True, rename={"error_class": "class"}):
    """Why a request was not done. `message` is one line that names no payload and no absolute path."""

    kind: ErrorKind
    error_class: str
    message: str


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the worker answers: any number of `progress`, then exactly one `result` or `error`.

    `look`, where the request allows it, asks the supervisor how the neighbour process is. It answers with a request
    `looked` of the same id, whose params are a `Look`; nothing else is said until then.
    """

    id: int
    progress: int | None = None
    look: Moment | None = None
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: ErrorReport | None = None


class HelloParams(msgspec.Struct, frozen=True):
    """The first request. Role `cells` puts the engine in place before user or runtime code is imported.

    `instrument` names packages whose accesses to shared state the engine is to see; a service's own file is seen with
    them.
    """

    protocol: int
    role: Role
    instrument: tuple[str, ...] = ()


class Hello(msgspec.Struct, frozen=True):
    """Who answers. `platform` is an operating system and a machine type, never a host name."""

    protocol: int
    harness: str
    python: str
    platform: str


class AdapterParams(msgspec.Struct, frozen=True):
    """Names an adapter."""

    adapter: str


class Probe(msgspec.Struct, frozen=True):
    """What the adapter found: `adapters.base.Availability` as data."""

    importable: bool
    version: str = ""
    build: str = ""
    delegates: tuple[str, ...] = ()
    why_not: str = ""
    install: str = ""


class ModelParams(msgspec.Struct, frozen=True):
    """A piece of a model. `data` is base64 on the wire; pieces come in order and the last one completes the digest."""

    digest: str
    name: str
    suffix: str
    size: int
    offset: int
    data: bytes


class ModelReceived(msgspec.Struct, frozen=True):
    """How many bytes the worker holds, and whether the model is whole and its digest right."""

    received: int
    complete: bool


class DescribeParams(msgspec.Struct, frozen=True):
    """Asks what a service and scenarios are, which imports the user's code."""

    service: ServiceSpec
    scenarios: tuple[str, ...]


class ScenarioRecord(msgspec.Struct, frozen=True):
    """What a scenario says about itself. `may_strike`: its script arms a fault."""

    reference: str
    digest: str
    requires: tuple[str, ...]
    exercises: tuple[str, ...]
    native: Literal["atomic", "held"]
    tasks: int
    may_strike: bool = False


class Description(msgspec.Struct, frozen=True):
    """The service and the scenarios, in the order asked for."""

    service: ServiceRecord
    scenarios: tuple[ScenarioRecord, ...]


class ExpectationsParams(msgspec.Struct, frozen=True):
    """Asks for the inputs and answers of this many tasks, from a fresh session for each.

    `shaped` is how many more it wants of each further shape; the answers of the model of `next_digest`, too.
    """

    target: TargetSpec
    model_digest: str
    seed: int
    tasks: int
    shaped: int = 0
    next_digest: str = ""


class MeasureParams(msgspec.Struct, frozen=True):
    """Asks what can be measured of a service on a target, outside of any execution."""

    target: TargetSpec
    model_digest: str
    service: ServiceSpec


class NeighbourParams(msgspec.Struct, frozen=True):
    """Asks for a session on a target, to be looked at by `look`: two requests, and what each must be answered with.

    `fallback_answers` are those of the plain CPU path. Without `answers` the outputs are not judged.
    """

    target: TargetSpec
    model_digest: str
    recipes: tuple[Recipe, ...]
    answers: tuple[Answer, ...]
    fallback_answers: tuple[Answer, ...] = ()


class NeighbourReady(msgspec.Struct, frozen=True):
    """The session is open."""


class CellParams(msgspec.Struct, frozen=True):
    """Asks for one cell to be explored. `watched`: the supervisor answers `look`, in the two requests below as well."""

    cell: Cell
    expectations: Expectations
    watched: bool = False


class ShareParams(msgspec.Struct, frozen=True):
    """Asks for one share of a cell to be explored, beside other workers with the other shares."""

    cell: Cell
    expectations: Expectations
    share: Share
    watched: bool = False


class ReplayParams(msgspec.Struct, frozen=True):
    """Asks for one schedule to be replayed a number of times."""

    cell: Cell
    expectations: Expectations
    schedule: Schedule
    times: int
    watched: bool = False


def encode_line(message: Request | Reply) -> bytes:
    """Write one message as one line. JSON escapes line feeds inside strings, so the last byte is the only one."""
    return msgspec.json.encode(message) + b"\n"
