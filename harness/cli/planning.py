"""From a suite and the command line's flags to a plan with everything a run needs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from harness.cli.output import UsageError
from harness.cli.targets import NUMPY, Found, default_target, discover, named_targets
from harness.execution.arming import arming_of
from harness.faults.catalogue import FAMILIES
from harness.faults.plan import check_arming
from harness.invariants.catalogue import CATALOGUE
from harness.models.errors import ModelError, UnusableModelError
from harness.models.reference import next_version, resolve
from harness.models.registry import adapter_names, load_adapter
from harness.suite.fault_text import parse_fault
from harness.suite.file import ControlEntry, SuiteError, SuiteFile, load_release, load_suite
from harness.suite.plan import Budget, ControlSpec, FaultSpec, Plan, ServiceSpec, TargetSpec
from harness.suite.select import is_file_reference, portable_reference, select_scenarios
from harness.supervisor.run import UNSAFE, Materials
from harness.supervisor.switch import StopSwitch
from harness.verdict import SuiteRecord
from scenarios.catalogue import SCENARIOS

if TYPE_CHECKING:
    from adapters.base import Adapter, ModelFile

__all__ = ["Prepared", "Wishes", "default_service", "prepare"]

_TWO_SLOTS = frozenset({"pool", UNSAFE})
_EXTERNAL = "external:"
"""How the adapters name a delegate that is a shared library, by path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the command line asked for; empty and None mean: as the suite says."""

    suite: Path | None = None
    targets: tuple[str, ...] = ()
    model: str = ""
    scenarios: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    capacity: int | None = None
    slots: int | None = None
    seed: int | None = None
    resumed_seed: int | None = None
    """The seed of the run to be finished, where neither the command line nor the suite gives one."""
    executions: int | None = None
    exploration: Budget | None = None
    """Replaces the suite's budget for the cells, not for the controls."""
    hang_after_s: float | None = None
    challenge: str | None = None
    faults: tuple[str, ...] = ()
    """Added to the suite's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan that can be run. `notes` are lines for the user; `proves_nothing`: no runtime is installed.

    `left_out` has a line for each target that was asked for and is not in the plan, because its model file is no model.
    """

    plan: Plan
    materials: dict[str, Materials]
    notes: tuple[str, ...]
    proves_nothing: bool
    left_out: tuple[str, ...] = ()


def prepare(wishes: Wishes, switch: StopSwitch) -> Prepared:
    """Read the suite, choose targets, resolve models. Raises UsageError for whatever does not exist."""
    try:
        suite = load_suite(wishes.suite) if wishes.suite else load_release()
        scenarios = select_scenarios(wishes.scenarios or suite.scenarios, SCENARIOS, Path.cwd())
        hang_after_s = wishes.hang_after_s or suite.hang_after
        targets, notes, proves_nothing = _targets(wishes, suite, switch, hang_after_s)
        targets = _with_model(targets, wishes.model, explicit=bool(wishes.targets or suite.targets))
        controls = tuple(_control(entry, suite, wishes) for entry in suite.controls)
        materials, left_out = _materials_of_all(targets, controls)
        faults = (*suite.faults, *map(parse_fault, wishes.faults))
    except (SuiteError, ModelError) as error:
        raise UsageError(str(error)) from error
    seed = _seed(wishes, suite)
    plan = Plan(
        suite=SuiteRecord(suite.id, suite.version),
        targets=tuple(_portable(target) for target in targets if target.name in materials),
        services=_services(wishes, suite),
        scenarios=scenarios,
        controls=controls,
        budget=wishes.exploration or _budget(suite, wishes),
        seed=seed,
        faults=tuple(_fault(spec, seed) for spec in faults),
        hang_after_s=hang_after_s,
        challenge=wishes.challenge or None,
    )
    return Prepared(plan=plan, materials=materials, notes=notes, proves_nothing=proves_nothing, left_out=left_out)


def _targets(
    wishes: Wishes, suite: SuiteFile, switch: StopSwitch, hang_after_s: float
) -> tuple[tuple[TargetSpec, ...], tuple[str, ...], bool]:
    if wishes.targets:
        return named_targets(wishes.targets, suite.targets), (), False
    if suite.targets:
        return suite.targets, (), False
    found = discover((name for name in adapter_names() if name != NUMPY), switch, hang_after_s)
    if switch.pulled:
        raise KeyboardInterrupt
    notes = tuple(_note(item) for item in found if item.problem)
    present = tuple(default_target(item.adapter) for item in found if not item.problem)
    if present:
        return present, notes, False
    install = next((item.install for item in found if item.install), "pip install onnxruntime")
    warning = f"no runtime is installed: the numpy target proves nothing about a runtime. Install one: {install}"
    return (default_target(NUMPY),), (*notes, warning), True


def _note(found: Found) -> str:
    return f"{found.adapter}: {found.problem}{f' ({found.install})' if found.install else ''}"


def _fault(spec: FaultSpec, seed: int) -> FaultSpec:
    """The fault with the seed that draws it, where one does. Raises UsageError for what can strike nothing."""
    drawn = seed if spec.seed is None else spec.seed
    spec = msgspec.structs.replace(spec, seed=drawn if spec.probability < 1 else 0)
    try:
        check_arming(arming_of(spec))
    except ValueError as error:
        message = f"fault {spec.name}: {error}" if spec.name in FAMILIES else str(error)
        raise UsageError(message) from error
    return spec


def _with_model(targets: Sequence[TargetSpec], model: str, *, explicit: bool) -> tuple[TargetSpec, ...]:
    """Replace the model of every target whose adapter reads it; a discovered target that does not is left out."""
    if not model:
        return tuple(targets)
    suffix = "" if model.startswith("builtin:") else PurePosixPath(model).suffix.lower()
    reads = {target.name for target in targets if not suffix or suffix in load_adapter(target.adapter).suffixes}
    if not reads:
        resolve(model, (suffix,))  # a file that is not there is named first
        message = f"no target here reads {PurePosixPath(model).name!r}: {', '.join(target.name for target in targets)}"
        raise UsageError(message)
    replaced = (
        msgspec.structs.replace(target, model=model, next_model="") if target.name in reads else target
        for target in targets
        if explicit or target.name in reads
    )
    return tuple(replaced)


def _portable(target: TargetSpec) -> TargetSpec:
    """The target as it may be recorded: a file's reference says no more than a path from the working directory."""
    library = target.delegate.removeprefix(_EXTERNAL)
    if library != target.delegate and not target.command:  # with a command the path is another machine's
        target = msgspec.structs.replace(target, delegate=f"{_EXTERNAL}{Path(os.path.relpath(library)).as_posix()}")
    return msgspec.structs.replace(
        target, model=_portable_model(target.model), next_model=_portable_model(target.next_model)
    )


def _portable_model(reference: str) -> str:
    if not reference or reference.startswith(("builtin:", "pkg:")):
        return reference
    path = Path(reference).resolve()
    inside = path.is_relative_to(Path.cwd())
    return path.relative_to(Path.cwd()).as_posix() if inside else path.name


def _services(wishes: Wishes, suite: SuiteFile) -> tuple[ServiceSpec, ...]:
    if not wishes.services:
        chosen = suite.services or (default_service("queue"), default_service("pool"))
    else:
        chosen = tuple(_service(portable_reference(name, Path.cwd()), suite) for name in wishes.services)
    return tuple(_sized(spec, wishes) for spec in chosen)


def _service(name: str, suite: SuiteFile) -> ServiceSpec:
    for spec in suite.services:
        if spec.name == name:
            return spec
    return default_service(name)


def default_service(name: str) -> ServiceSpec:
    """The service when nothing else is said of it: one slot, or two where it takes two to be what it is."""
    return ServiceSpec(name, slots=2 if name in _TWO_SLOTS else 1)


def _sized(spec: ServiceSpec, wishes: Wishes) -> ServiceSpec:
    capacity = spec.capacity if wishes.capacity is None else wishes.capacity
    slots = spec.slots if wishes.slots is None else wishes.slots
    if capacity < 1 or slots < 1:
        message = "--capacity and --slots must be at least 1"
        raise UsageError(message)
    name = portable_reference(spec.name, Path.cwd()) if is_file_reference(spec.name) else spec.name
    sized = msgspec.structs.replace(spec, name=name, capacity=capacity, slots=slots)
    if not sized.slots_fit:
        message = f"--slots {slots}: the queue has one slot; give the pool alone: --service pool --slots {slots}"
        raise UsageError(message)
    return sized


def _control(entry: ControlEntry, suite: SuiteFile, wishes: Wishes) -> ControlSpec:
    if entry.invariant and entry.invariant not in CATALOGUE:
        message = f"control: no invariant {entry.invariant!r}; `racegate list invariants` names them"
        raise UsageError(message)
    (scenario,) = select_scenarios((entry.scenario,), SCENARIOS, Path.cwd())[:1]
    service = entry.service if isinstance(entry.service, ServiceSpec) else _service(entry.service, suite)
    budget = _budget(suite, wishes)
    executions = entry.executions or budget.executions
    return ControlSpec(
        scenario=scenario,
        service=service,
        model=entry.model,
        expect=entry.expect,
        invariant=entry.invariant,
        adapters=entry.adapters,
        budget=msgspec.structs.replace(budget, executions=executions),
    )


def _budget(suite: SuiteFile, wishes: Wishes) -> Budget:
    if wishes.executions is None:
        return suite.budget
    if wishes.executions < 1:
        message = "--executions must be at least 1"
        raise UsageError(message)
    return msgspec.structs.replace(suite.budget, executions=wishes.executions)


def _seed(wishes: Wishes, suite: SuiteFile) -> int:
    """Fresh by default, because a second look should see other schedules; the receipt records it."""
    for seed in (wishes.seed, suite.seed, wishes.resumed_seed):
        if seed is not None:
            if not 0 <= seed < 2**63:
                message = "--seed must be between 0 and 2**63 - 1"
                raise UsageError(message)
            return seed
    return secrets.randbits(31)


def _materials_of_all(
    targets: Sequence[TargetSpec], controls: Sequence[ControlSpec]
) -> tuple[dict[str, Materials], tuple[str, ...]]:
    """The materials by target, and a line for each target whose model file is no model. Raises ModelError.

    The others go on without it; where none is left there is nothing to run, and that is the user's to mend.
    """
    materials: dict[str, Materials] = {}
    unusable: list[tuple[TargetSpec, UnusableModelError]] = []
    for target in targets:
        try:
            materials[target.name] = _materials(target, controls)
        except UnusableModelError as error:
            unusable.append((target, error))
    if unusable and not materials:
        raise unusable[0][1]
    return materials, tuple(f"target {target.name} is not run: {error}" for target, error in unusable)


def _materials(target: TargetSpec, controls: Sequence[ControlSpec]) -> Materials:
    adapter: Adapter = load_adapter(target.adapter)
    wanted = {spec.model for spec in controls if not spec.adapters or target.adapter in spec.adapters}
    models: dict[str, ModelFile] = {reference: resolve(reference, adapter.suffixes) for reference in sorted(wanted)}
    following = target.next_model or next_version(target.model)
    return Materials(
        model=resolve(target.model, adapter.suffixes),
        next_model=resolve(following, adapter.suffixes) if following else None,
        controls=models,
        shared_state=adapter.shared_state_options,
    )
