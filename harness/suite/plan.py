"""The plan: which scenarios run on which target and service, as plain data that a worker can be sent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import PurePosixPath

import msgspec

from harness.verdict import SuiteRecord, Verdict

__all__ = [
    "CORE",
    "FURTHER_SHAPES",
    "Budget",
    "Cell",
    "ControlSpec",
    "FaultSpec",
    "InputDomain",
    "Plan",
    "ServiceSpec",
    "Share",
    "TargetSpec",
    "by_file_name",
    "instrumented_packages",
]


CORE = "RACEGATE_CORE"
"""The variable by which a supervisor tells a worker which core to prefer, so that two workers do not share one."""


FURTHER_SHAPES = 2
"""How many shapes there are beside the first, where a model has dynamic dimensions: a larger one, one in between."""


def by_file_name(reference: str) -> str:
    """`path/file.py:name` without the folder: where a file lies is nobody's business, and no schedule depends on it."""
    path, colon, name = reference.rpartition(":")
    return f"{PurePosixPath(path).name}:{name}" if colon and path.endswith(".py") else reference


class InputDomain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where one model input's values come from: `low` to `high` (integers: half open), and fixed dynamic dimensions.

    `shapes` are two further shapes, for scenarios in which shapes change; a service is set up to take all that lie
    between the smallest and the largest of the three.
    """

    low: float = 0.0
    high: float = 1.0
    shape: tuple[int, ...] | None = None
    shapes: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        """Make `0` and `0.0` the same: they are the same domain, and must give the same digest."""
        msgspec.structs.force_setattr(self, "low", float(self.low))
        msgspec.structs.force_setattr(self, "high", float(self.high))


class TargetSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A target: adapter, delegate, model, options, and the command that starts its worker.

    `model` is a file, `builtin:NAME`, or `pkg:PACKAGE==VERSION/path`. An empty `delegate` is the adapter's default.
    `next_model` is what scenarios that switch the model go over to; empty is `builtin:NAME-2` where there is one, else
    the model itself, and then a version is known by its sessions alone, not by its outputs.
    `watch_process`: while faults strike, another process with a session of its own is asked how it is.
    `python` is an interpreter for `python -m harness.worker`; `command` replaces the whole command.
    """

    name: str
    adapter: str
    model: str = "builtin:permutation"
    delegate: str = ""
    options: Mapping[str, bool | int | str] = {}
    inputs: Mapping[str, InputDomain] = {}
    python: str = ""
    command: tuple[str, ...] = ()
    next_model: str = ""
    watch_process: bool = True


class _DigestedTarget(msgspec.Struct, frozen=True):
    """What of a target a schedule depends on, in the form in which tokens have always had it."""

    name: str
    adapter: str
    model: str
    delegate: str
    options: Mapping[str, bool | int | str]
    inputs: Mapping[str, InputDomain]
    python: str = ""
    command: tuple[str, ...] = ()


class ServiceSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A service and its configuration.

    `name` is one from `racegate list services`, `package.module:Name` or `path/file.py:Name`.
    """

    name: str
    capacity: int = 2
    slots: int = 1
    options: Mapping[str, bool | int | str] = {}

    @property
    def slots_fit(self) -> bool:
        """Whether it can have so many: our serial queue has one."""
        return self.name != "queue" or self.slots == 1


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much of a cell is explored: executions, cut short after `seconds` of real time (0: no limit)."""

    executions: int = 100
    seconds: float = 0.0
    strategy: str = "portfolio"
    """`scripted`, `random`, `pos`, `pct`, `exhaustive`, or `portfolio` (the default order, what leaves it
    once, pos, pct and random in turn)."""
    bound: int = -1
    """PCT: the depth; exhaustive: the most preemptions; -1 leaves it to the strategy."""
    granularity: str = "sync"
    """Where decisions are made: `sync` (synchronisation and session seams) or `statement` (shared state as well)."""
    carrier: str = "threads"
    """What controlled threads run on: `threads`, or `greenlets` (not for asyncio, nor for held calls)."""


class FaultSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault that is armed from the beginning of every execution: see `docs/faults.md`.

    Empty strings mean: the fault's own point, any session, any task. `seed` draws where `probability` is below 1; None
    takes the run's.
    """

    name: str
    point: str = ""
    nth: int = 1
    session: str = ""
    task: str = ""
    persistent: bool = False
    probability: float = 1.0
    seed: int | None = None


def instrumented_packages(service: ServiceSpec, budget: Budget) -> tuple[str, ...]:
    """The packages whose shared state a search must see: none unless it decides at statements, or leaves states out.

    A service given by file is seen into as well; its name is no package's.
    """
    if budget.granularity == "sync" and budget.strategy != "exhaustive":
        return ()
    module = service.name.rpartition(":")[0]
    own = (module,) if module and not module.endswith(".py") else ()
    return ("harness.service", *own)


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One scenario on one target and one service. `scenario` is a built-in id or `path/file.py:name`."""

    scenario: str
    target: TargetSpec
    service: ServiceSpec
    model_digest: str
    budget: Budget = Budget()
    seed: int = 0
    faults: tuple[FaultSpec, ...] = ()

    @property
    def digest(self) -> str:
        """The sha256, in hex, over what a schedule depends on: not the budget, the seed or the worker's command."""
        given = self.target
        target = _DigestedTarget("", given.adapter, "", given.delegate, given.options, given.inputs)
        service = msgspec.structs.replace(self.service, name=by_file_name(self.service.name))
        parts: list[object] = [by_file_name(self.scenario), target, service, self.model_digest]
        if self.budget.granularity != "sync":
            parts.append(self.budget.granularity)  # it decides what a schedule's steps are
        if self.faults:
            parts.append(self.faults)
        if given.next_model:
            parts.append(by_file_name(given.next_model))
        return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()

    def as_recorded(self, scenario: str, digest: str) -> tuple[str, str]:
        """The scenario's name and digest for a record: with faults armed from outside it is not the author's any more.

        What the script expects is not asked once they strike, so a record must not answer for the scenario as such.
        """
        if not self.faults:
            return scenario, digest
        armed = msgspec.json.encode((digest, self.faults), order="deterministic")
        names = "+".join(fault.name for fault in self.faults)
        return f"{scenario}+{names}", hashlib.sha256(armed).hexdigest()


class Share(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of `of` parts, counted from 0, into which the exploration of a cell is split.

    Execution number `number` of the cell counts in the share `number % of`.
    """

    index: int = 0
    of: int = 1

    def counts(self, number: int) -> bool:
        """Whether this share answers for that execution."""
        return number % self.of == self.index


class ControlSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cell on a built-in model that must come out as `expect`. `adapters` limits it to some; empty means all."""

    scenario: str
    service: ServiceSpec
    model: str
    expect: Verdict
    invariant: str
    adapters: tuple[str, ...]
    budget: Budget


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a run is: every scenario on every service on every target, and the controls on every target.

    `hang_after_s` is real time: a worker that says nothing for so long is killed.
    """

    suite: SuiteRecord
    targets: tuple[TargetSpec, ...]
    services: tuple[ServiceSpec, ...]
    scenarios: tuple[str, ...]
    controls: tuple[ControlSpec, ...] = ()
    budget: Budget = Budget()
    seed: int = 0
    faults: tuple[FaultSpec, ...] = ()
    """Armed in the cells, not in the controls."""
    hang_after_s: float = 30.0
    challenge: str | None = None
