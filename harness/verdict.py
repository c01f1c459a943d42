"""Verdicts and the recorded data of a run: what workers send, the supervisor collects and reports read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Literal

import msgspec

from harness.history import Event, Mode

__all__ = [
    "CapacityRecord",
    "CellResult",
    "Control",
    "CopyRecord",
    "DelegateRecord",
    "DeviceRecord",
    "Exploration",
    "Failure",
    "FaultTally",
    "Finding",
    "HarnessRecord",
    "InvariantTally",
    "Measured",
    "PlacementRecord",
    "RunRecord",
    "RuntimeRecord",
    "ServiceRecord",
    "SlopeRecord",
    "Stop",
    "SuiteRecord",
    "Verdict",
    "Violation",
    "combine",
]


class Verdict(StrEnum):
    """How a cell or a run came out. Only PASS is a pass."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    CRASHED = "CRASHED"
    HUNG = "HUNG"
    KILLED = "KILLED"
    NOT_RUN = "NOT_RUN"


BAD = frozenset({Verdict.FAIL, Verdict.CRASHED, Verdict.HUNG, Verdict.KILLED})
"""Verdicts that make a run fail: exit code 1."""
UNDECIDED = frozenset({Verdict.UNKNOWN, Verdict.NOT_RUN})
"""Verdicts that leave a run undecided: exit code 3."""


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """Compose verdicts: FAIL beats UNKNOWN beats PASS; NOT_APPLICABLE changes nothing; nothing passed is UNKNOWN."""
    seen = set(verdicts)
    if seen & BAD:
        return Verdict.FAIL
    if seen & UNDECIDED or Verdict.PASS not in seen:
        return Verdict.UNKNOWN
    return Verdict.PASS


class Violation(msgspec.Struct, frozen=True):
    """One broken invariant: its id, one sentence, and the `seq` of each event that proves it."""

    invariant: str
    message: str
    events: tuple[int, ...] = ()


class Finding(msgspec.Struct, frozen=True):
    """Something a person should know that is not a violation.

    `kind` is one of hidden-state, indistinguishable, nondeterminism, uncontrolled, budget, shared-session, thread-left,
    thread-died, gate-opened, checker-crashed, unattributed, native-library, native-left, native-missed, unwatched,
    neighbour-unsure, fault-missed.
    """

    kind: str
    message: str


class InvariantTally(msgspec.Struct, frozen=True):
    """How often an invariant's premise occurred, how often it was broken, and why it could not be judged, if so."""

    id: str
    checked: int
    violated: int
    unknown: str = ""


class FaultTally(msgspec.Struct, frozen=True):
    """How often one kind of fault was injected."""

    kind: str
    injected: int


class Exploration(msgspec.Struct, frozen=True):
    """How schedules were chosen. `seed` is a decimal string, `bound` is -1 where the strategy has none.

    `whole_to`: with at most so many preemptions every schedule was explored, -1 if that cannot be said of any number.
    """

    strategy: str
    seed: str
    bound: int = -1
    whole_to: int = -1

    @property
    def exhausted(self) -> bool:
        """Whether every schedule within the bound was explored."""
        return 0 <= self.bound == self.whole_to


class Stop(msgspec.Struct, frozen=True):
    """One change from a thread to another, for the eye: it is no part of the history.

    It came after `after` events. `thread` gave way at `place` (`how`: stops, waits, ends or calls, in a native call;
    empty where nobody ran), and `chosen` went on at `resumes` (`then`: starts, goes on, or times out). A place is
    `folder/file.py:line`, empty where it is not the service's or the scenario's.
    """

    after: int
    thread: str
    how: str
    place: str
    chosen: str
    then: str
    resumes: str


class Failure(msgspec.Struct, frozen=True):
    """One failing execution, replayed and confirmed: its violations, its schedule and its whole history.

    `blocked` has one line for each thread that could never move again: what it waits for and who holds it.

    For the eye there are `places`, the place in the service or the scenario that each event came from (`file.py:line`,
    in the order of `events`), and `stops`. `lines` has the source text of places: a terminal may show it, and no file
    that racegate writes ever holds it.
    """

    violations: tuple[Violation, ...]
    token: str
    history_digest: str
    execution: int
    events: tuple[Event, ...]
    blocked: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    stops: tuple[Stop, ...] = ()
    lines: Mapping[str, str] = {}

    def place(self, event: Event) -> str:
        """Where this event came from, empty where nobody knows."""
        return self.places[event.seq] if event.seq < len(self.places) else ""


class CellResult(msgspec.Struct, frozen=True):
    """One scenario on one target and one service. Digests are sha256 in hex.

    `next_model_digest` is that of the model that was switched to, where its outputs tell the versions apart.
    `process_looks` is how often another process on the device was asked how it is.
    """

    scenario: str
    scenario_digest: str
    model_digest: str
    verdict: Verdict
    reason: str = ""
    cell_digest: str = ""
    requires: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()
    native: Literal["atomic", "held"] = "atomic"
    oracle: str = "reference"
    executions: int = 0
    decision_points: int = 0
    seconds: float = 0.0
    exploration: Exploration | None = None
    faults: tuple[FaultTally, ...] = ()
    invariants: tuple[InvariantTally, ...] = ()
    failures: tuple[Failure, ...] = ()
    findings: tuple[Finding, ...] = ()
    next_model_digest: str = ""
    process_looks: int = 0


class Control(msgspec.Struct, frozen=True):
    """A cell on a built-in model that must come out as `expected`, with `invariant` as the reason where it has one."""

    name: str
    expected: Verdict
    invariant: str
    cell: CellResult

    @property
    def as_expected(self) -> bool:
        """Whether the harness saw what it must see."""
        if self.cell.verdict is not self.expected:
            return False
        tallies = {tally.id: tally for tally in self.cell.invariants}
        tally = tallies.get(self.invariant)
        if not self.invariant:
            return True
        return tally is not None and bool(tally.violated if self.expected is Verdict.FAIL else tally.unknown)


class PlacementRecord(msgspec.Struct, frozen=True):
    """How many graph nodes one executor ran."""

    on: str
    nodes: int
    partitions: int


class DelegateRecord(msgspec.Struct, frozen=True):
    """The delegate that was asked for and what took part."""

    requested: str
    actual: str
    graph_nodes: int
    placement: tuple[PlacementRecord, ...]
    evidence: str
    fallback_events: int = 0
    init_error: str | None = None
    fallback: bool = False


class RuntimeRecord(msgspec.Struct, frozen=True):
    """The runtime that ran, with the sha256 of its native libraries and the options that matter."""

    name: str
    version: str
    build: str
    artifacts: Mapping[str, str]
    options: Mapping[str, bool | int | str]


class DeviceRecord(msgspec.Struct, frozen=True):
    """The device class. No serial, host name or user name."""

    device_class: str
    os: str
    kernel: str
    cpu_arch: str
    cpu_model: str
    cpu_cores: int
    cpu_isa: tuple[str, ...]
    memory_mib: int
    accelerators: tuple[str, ...]
    cgroup_limits: Mapping[str, str]
    virtualized: str


class ServiceRecord(msgspec.Struct, frozen=True):
    """The service under test, as effective. `source_digest` is the sha256 of the file that defines it."""

    name: str
    source_digest: str
    kind: str
    capacity: int
    slots: int
    overflow: str
    close_behaviour: str
    delegate_behaviour: str
    capabilities: tuple[str, ...]
    configuration: Mapping[str, bool | int | str]


class SlopeRecord(msgspec.Struct, frozen=True):
    """Picoseconds per byte: the median over rounds, and an interval that holds the true median at 95 % or more."""

    median: int
    low: int
    high: int
    rounds: int


class CopyRecord(msgspec.Struct, frozen=True):
    """What was seen of copies when inputs are handed to the service one way, `submit` or `lease`.

    `statement` is `no explicit copy`, `explicit copy` or `undecided`; `reason` says what decided. The slopes are those
    of time over size, of the hand-over and of a plain copy, None where nothing could be measured.
    """

    how: str
    statement: str
    reason: str
    same_handle: bool = False
    hand_over: SlopeRecord | None = None
    copy: SlopeRecord | None = None
    sizes: tuple[int, ...] = ()
    not_observed: tuple[str, ...] = ()


class CapacityRecord(msgspec.Struct, frozen=True):
    """An estimate in bytes: `weights`, for each live request `base` and `per_unit` times its length, and `reserve`.

    `unit` is what a length counts, `evidence` how the figures were learned.
    """

    weights: int
    base: int
    per_unit: int
    reserve: int
    unit: str
    evidence: str
    not_observed: tuple[str, ...] = ()


class Measured(msgspec.Struct, frozen=True):
    """What was measured of one service on one target, outside of the executions."""

    copies: tuple[CopyRecord, ...] = ()
    capacity: CapacityRecord | None = None


class SuiteRecord(msgspec.Struct, frozen=True):
    """The suite that chose the scenarios."""

    id: str
    version: str


class HarnessRecord(msgspec.Struct, frozen=True):
    """What racegate itself was. `dirty` is True, False or None for unknown."""

    version: str
    source_digest: str
    dirty: bool | None
    python: str


class RunRecord(msgspec.Struct, frozen=True):
    """Everything recorded about one (target, service, suite) run; a receipt is a pure function of it.

    Times are RFC 3339 in UTC ending in Z. `target` is the suite's name for the target.
    """

    run_id: str
    target: str
    started_on: str
    finished_on: str
    mode: Mode | Literal["both"]
    attempt: int
    model_name: str
    model_digest: str
    seed: str
    runtime: RuntimeRecord
    delegate: DelegateRecord
    device: DeviceRecord
    service: ServiceRecord
    suite: SuiteRecord
    harness: HarnessRecord
    cells: tuple[CellResult, ...]
    controls: tuple[Control, ...] = ()
    interrupted: bool = False
    previous_receipt: str | None = None
    challenge: str | None = None
    measured: Measured = Measured()

    @property
    def verdict(self) -> Verdict:
        """FAIL beats UNKNOWN beats PASS; an interrupted run or a control that surprised is never a PASS."""
        cells = combine(cell.verdict for cell in self.cells)
        if cells is Verdict.PASS and (self.interrupted or not all(control.as_expected for control in self.controls)):
            return Verdict.UNKNOWN
        return cells
