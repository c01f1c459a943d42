"""Runs a plan: targets in parallel, the services of a target in turn, one record for each pair."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from harness.suite.plan import Budget, ControlSpec, Plan, ServiceSpec, TargetSpec, instrumented_packages
from harness.supervisor.blank import unknown_delegate, unknown_runtime
from harness.supervisor.cell_file import CellFile
from harness.supervisor.cells import CONTROLS, PlanError, Watcher
from harness.supervisor.identity import harness_record
from harness.supervisor.journal import FORGETFUL, Journal, content_digest
from harness.supervisor.neighbour import NeighbourProcess
from harness.supervisor.once import Once
from harness.supervisor.oracle import Oracles
from harness.supervisor.pair import Pair, PairResult, run_id, run_pair, timestamp
from harness.supervisor.process import WorkerStartError
from harness.supervisor.staff import Staff
from harness.supervisor.switch import StopSwitch
from harness.verdict import Control, RunRecord

if TYPE_CHECKING:
    from adapters.base import ModelFile

__all__ = ["UNSAFE", "Finished", "Materials", "pair_key", "run_plan"]

Proof: TypeAlias = tuple[Control, tuple[CellFile, ...]]
"""A control with the files that replay what it found."""

Cores: TypeAlias = tuple[int, ...]
"""The cores that the workers of one target prefer, one worker each."""

UNSAFE = "unsafe-shared"
"""The known-bad built-in service: two workers on one session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """What a target's run needs besides the plan.

    `next_model` is what the scenarios about versions switch to. `controls` holds the models of the controls by
    reference; with the options `shared_state` the adapter's sessions do share buffers.
    """

    model: ModelFile
    controls: Mapping[str, ModelFile]
    shared_state: Mapping[str, bool | int | str]
    next_model: ModelFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """One pair's record, and a cell file for each cell that failed, controls included. `key`: see `pair_key`."""

    key: str
    record: RunRecord
    files: tuple[CellFile, ...]


def pair_key(target: TargetSpec, service: ServiceSpec) -> str:
    """What tells one pair of a plan from the others: two services may have one name and differ in their options."""
    return content_digest((target, service))


def run_plan(
    plan: Plan,
    materials: Mapping[str, Materials],
    watcher: Watcher,
    switch: StopSwitch,
    jobs: int = 2,
    workers: int = 0,
    journal: Journal = FORGETFUL,
    leave_out: Collection[str] = (),
) -> Iterator[Finished]:
    """Run the plan and yield each record as soon as it is there; `materials` is by target name.

    When the switch is pulled the remaining cells become NOT_RUN and every record still comes. Raises PlanError, after
    the other targets have been stopped. Generate it on one thread; the targets run on `jobs` others. `workers` is how
    many worker processes explore at once in all, dealt out among the targets that run at once: each has one at least.
    `leave_out` are keys of pairs; cells that `journal` has are not run again. Raises
    OSError where the journal cannot be written.
    """
    jobs = max(1, min(jobs, len(plan.targets)))
    runner = _Runner(plan, watcher, switch, jobs, workers, journal, leave_out)
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="target") as pool:
        pending = {pool.submit(runner.target, target, materials[target.name]) for target in plan.targets}
        try:
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    yield from future.result()
        except BaseException:
            switch.pull()
            raise


class _Runner:
    """What the targets of one run share."""

    def __init__(
        self,
        plan: Plan,
        watcher: Watcher,
        switch: StopSwitch,
        jobs: int,
        workers: int,
        journal: Journal,
        leave_out: Collection[str],
    ) -> None:
        self._plan = plan
        self._journal = journal
        self._leave_out = leave_out
        self._watcher = watcher
        self._switch = switch
        self._oracles = Oracles()
        self._controls: Once[Proof] = Once()
        self._cores: SimpleQueue[Cores] = SimpleQueue()
        for first in range(jobs):
            self._cores.put(tuple(range(first, max(workers, jobs), jobs)))

    def target(self, target: TargetSpec, materials: Materials) -> tuple[Finished, ...]:
        cores = self._cores.get()
        try:
            return self._target(target, materials, cores)
        finally:
            self._cores.put(cores)

    def _target(self, target: TargetSpec, materials: Materials, cores: Cores) -> tuple[Finished, ...]:
        neighbour = NeighbourProcess(Staff(target, self._plan.hang_after_s, self._switch), materials.model)
        try:
            controls: tuple[Proof, ...] | None = None
            finished: list[Finished] = []
            for service in self._plan.services:
                key = pair_key(target, service)
                if key in self._leave_out:
                    continue
                result = self._pair(_known_bad(target, service, materials), materials, service, cores, neighbour)
                if controls is None:
                    controls = self._run_controls(target, materials, cores[0]) if result.expectations else ()
                known = tuple(control for control, _ in controls)
                files = {file.name: file for _, beside in controls for file in beside}
                files |= {file.name: file for file in result.files}
                record = self._record(target, materials.model, service, result, known)
                finished.append(Finished(key=key, record=record, files=tuple(files.values())))
        except WorkerStartError as error:
            message = f"target {target.name}: {error}"
            raise PlanError(message) from error
        finally:
            neighbour.close()
        return tuple(finished)

    def _pair(
        self,
        target: TargetSpec,
        materials: Materials,
        service: ServiceSpec,
        cores: Cores,
        neighbour: NeighbourProcess,
    ) -> PairResult:
        staff, *more = (self._staff(target, service, self._plan.budget, core) for core in cores)
        pair = Pair(
            staff=staff,
            more=tuple(more),
            model=materials.model,
            next_model=materials.next_model,
            measures=self._plan.services,
            service=service,
            scenarios=self._plan.scenarios,
            budget=self._plan.budget,
            seed=self._plan.seed,
            faults=self._plan.faults,
            neighbour=neighbour,
        )
        return run_pair(pair, self._oracles, self._watcher, self._journal)

    def _staff(self, target: TargetSpec, service: ServiceSpec, budget: Budget, core: int) -> Staff:
        return Staff(target, self._plan.hang_after_s, self._switch, instrumented_packages(service, budget), core)

    def _run_controls(self, target: TargetSpec, materials: Materials, core: int) -> tuple[Proof, ...]:
        wanted = (spec for spec in self._plan.controls if not spec.adapters or target.adapter in spec.adapters)
        return tuple(self._control(spec, target, materials, core) for spec in wanted)

    def _control(self, spec: ControlSpec, target: TargetSpec, materials: Materials, core: int) -> Proof:
        """Run a control once for each combination of runtime and options, whatever model is tested there."""
        ready = msgspec.structs.replace(target, model=spec.model, inputs={})
        ready = _known_bad(ready, spec.service, materials)
        key = msgspec.json.encode((msgspec.structs.replace(ready, name=""), spec), order="deterministic")
        return self._controls.get(key, lambda: self._compute_control(spec, ready, materials.controls[spec.model], core))

    def _compute_control(self, spec: ControlSpec, target: TargetSpec, model: ModelFile, core: int) -> Proof:
        pair = Pair(
            staff=self._staff(target, spec.service, spec.budget, core),
            model=model,
            service=spec.service,
            scenarios=(spec.scenario,),
            budget=spec.budget,
            seed=self._plan.seed,
        )
        result = run_pair(pair, self._oracles, _Quiet(self._watcher, spec.scenario), self._journal)
        name = f"{spec.service.name} on {spec.model} in {spec.scenario}"
        return Control(name, spec.expect, spec.invariant, result.cells[0]), result.files

    def _record(
        self,
        target: TargetSpec,
        model: ModelFile,
        service: ServiceSpec,
        result: PairResult,
        controls: tuple[Control, ...],
    ) -> RunRecord:
        expected = result.expectations
        return RunRecord(
            run_id=run_id(target.name, service.name),
            target=target.name,
            started_on=result.started_on,
            finished_on=timestamp(),
            mode="controlled",
            attempt=1,
            # a built-in model says so: it is a control, and nobody's own model is covered by it
            model_name=target.model if target.model.startswith("builtin:") else model.name,
            model_digest=model.digest,
            seed=str(self._plan.seed),
            runtime=expected.runtime if expected else unknown_runtime(target),
            delegate=expected.delegate if expected else unknown_delegate(target),
            device=result.device,
            service=result.service,
            suite=self._plan.suite,
            harness=harness_record(),
            cells=result.cells,
            controls=controls,
            interrupted=self._switch.pulled,
            challenge=self._plan.challenge,
            measured=result.measured,
        )


def _known_bad(target: TargetSpec, service: ServiceSpec, materials: Materials) -> TargetSpec:
    """For the known-bad service: the target with the options under which its sessions do share buffers."""
    if service.name != UNSAFE:
        return target
    return msgspec.structs.replace(target, options={**target.options, **materials.shared_state})


class _Quiet:
    """Shows a control as a stage; its cell is no cell of the suite."""

    def __init__(self, watcher: Watcher, scenario: str) -> None:
        self._watcher = watcher
        self._scenario = scenario

    def stage(self, target: str, service: str, text: str) -> None:
        self._watcher.stage(target, CONTROLS, f"{self._scenario} on {service}: {text}")

    def execution(self, target: str, service: str, scenario: str, number: int) -> None:
        """A control's executions are not shown."""

    def finished(self, target: str, service: str, result: object) -> None:
        """A control's result is shown with its target."""

    def died(self, target: str, last_words: tuple[str, ...]) -> None:
        self._watcher.died(target, last_words)
