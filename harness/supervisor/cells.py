"""Runs cells, or shares of them, in a worker: a death is the result of its cell, and the next has a fresh worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from harness.execution.share import ShareReport
from harness.faults.last_words import injected_before
from harness.observe.neighbour import Look, Moment, is_harmed
from harness.oracle.expectations import Expectations
from harness.suite.plan import Cell, Share
from harness.supervisor.blank import cell_without_result, reason_of, verdict_of
from harness.supervisor.death import Death
from harness.supervisor.neighbour import NeighbourProcess, is_watched
from harness.supervisor.outlived import outlived
from harness.supervisor.process import Worker
from harness.supervisor.staff import Refusal, Staff, send_model
from harness.verdict import CellResult, Finding, Verdict
from harness.worker.protocol import CellParams, ErrorReport, ScenarioRecord, ShareParams

if TYPE_CHECKING:
    from adapters.base import ModelFile

__all__ = ["CONTROLS", "Answer", "CellRunner", "PlanError", "Watcher"]

Answer: TypeAlias = CellResult | ShareReport
"""What comes of a share: its report, or the result of its cell, where that is whole or a worker gave no report."""

CONTROLS = "controls"
"""What a watcher hears in the place of a service while a target's controls run."""

SPOILS = frozenset({"uncontrolled", "nondeterminism"})
"""The findings after which a worker is not used again: a thread runs on in it, or the service left something behind."""

_DEATHS_OUTSIDE = 2
"""So many deaths in a row outside of any cell, and the worker will not come up."""


class PlanError(ValueError):
    """What was asked for cannot be run as it stands: a service, scenario or command that does not exist. Exit 2."""


class Watcher(Protocol):
    """Hears how a run goes. Called from several threads; must not raise."""

    def stage(self, target: str, service: str, text: str) -> None:
        """Something other than a cell is being done."""

    def execution(self, target: str, service: str, scenario: str, number: int) -> None:
        """An execution is about to begin; not every one is told."""

    def finished(self, target: str, service: str, result: CellResult) -> None:
        """A cell has its result."""

    def died(self, target: str, last_words: tuple[str, ...]) -> None:
        """A worker died in a cell; these are the last lines of its standard error, which enter no record."""


class CellRunner:
    """Runs cells of one target on one service. Used from one thread at a time; `close` must be called."""

    def __init__(
        self,
        staff: Staff,
        model: ModelFile,
        service: str,
        watcher: Watcher,
        first: Worker | None,
        next_model: ModelFile | None = None,
        neighbour: NeighbourProcess | None = None,
    ) -> None:
        self._neighbour = neighbour
        self._staff = staff
        self._models = (model,) if next_model is None else (model, next_model)
        self._service = service
        self._watcher = watcher
        self._worker: Worker | None = None
        self._greeted = first
        self._deaths_outside = 0
        self._last_refusal: Refusal = Death(Verdict.CRASHED, "did not come up")

    def close(self) -> None:
        """Stop the worker, if one lives."""
        for worker in (self._worker, self._greeted):
            if worker is not None:
                self._staff.dismiss(worker)
        self._worker = self._greeted = None

    def run(self, cell: Cell, scenario: ScenarioRecord, expectations: Expectations, share: Share) -> Answer:
        """Explore one share of a cell. Raises PlanError where a worker finds the request unusable."""
        worker = self._ready()
        if not isinstance(worker, Worker):
            return self._without_worker(cell, scenario, worker)
        begun: list[int] = [-1]

        def progress(execution: int) -> None:
            begun[0] = execution
            self._watcher.execution(self._staff.target.name, self._service, scenario.reference, execution)

        unwatched = self._unwatched(cell, scenario, expectations)
        neighbour = self._neighbour if unwatched == "" else None
        looks: list[Look] = []

        def look(moment: Moment) -> Look:
            assert neighbour is not None, "a worker asks where it was told that it may"
            looks.append(neighbour.look(moment))
            return looks[-1]

        watched = neighbour is not None
        on_look = look if watched else None
        answer = (
            worker.ask("cell", CellParams(cell, expectations, watched), CellResult, progress, on_look)
            if share.of == 1
            else worker.ask("share", ShareParams(cell, expectations, share, watched), ShareReport, progress, on_look)
        )
        if not isinstance(answer, CellResult | ShareReport):
            return self._refused(cell, scenario, answer, begun[0], neighbour)
        self._deaths_outside = 0
        findings = answer.findings if isinstance(answer, CellResult) else answer.sums.findings
        # What harms another process may stay in this one: a lock that nobody gives back ends with it.
        if any(map(is_harmed, looks)) or any(finding.kind in SPOILS for finding in findings):
            self._retire()
        return _noting(answer, unwatched) if unwatched else answer

    def _unwatched(self, cell: Cell, scenario: ScenarioRecord, expectations: Expectations) -> str | None:
        """Why the neighbour process is not watched in this cell; empty where it is, None where nobody wants it."""
        if self._neighbour is None or not is_watched(cell, scenario):
            return None
        return self._neighbour.ready(expectations)

    def _refused(
        self, cell: Cell, scenario: ScenarioRecord, refusal: Refusal, execution: int, neighbour: NeighbourProcess | None
    ) -> CellResult:
        if isinstance(refusal, ErrorReport) and refusal.kind == "usage":
            raise PlanError(refusal.message)
        if not isinstance(refusal, Death):
            return cell_without_result(cell, scenario, Verdict.UNKNOWN, reason_of(refusal))
        injected = injected_before(self._worker.last_words()) if self._worker is not None else ""
        self._bury()
        if self._staff.stopped:
            return self._interrupted(cell, scenario)
        self._deaths_outside = 0
        where = f"execution {execution}" if execution >= 0 else "preparation, before its first execution"
        after = f", after {injected} was injected" if injected else ""
        reason = f"{reason_of(refusal)}, in {where} of {scenario.reference}{after}"
        result = cell_without_result(cell, scenario, refusal.verdict, reason)
        return outlived(result, injected, neighbour.look("after")) if injected and neighbour is not None else result

    def _without_worker(self, cell: Cell, scenario: ScenarioRecord, refusal: Refusal | None) -> CellResult:
        if self._staff.stopped or refusal is None:
            return self._interrupted(cell, scenario)
        if isinstance(refusal, Death):
            reason = f"{reason_of(refusal)}, {_DEATHS_OUTSIDE} times in a row before it could run a cell"
            return cell_without_result(cell, scenario, Verdict.NOT_RUN, reason)
        return cell_without_result(cell, scenario, verdict_of(refusal), reason_of(refusal))

    @staticmethod
    def _interrupted(cell: Cell, scenario: ScenarioRecord) -> CellResult:
        return cell_without_result(cell, scenario, Verdict.NOT_RUN, "the run was interrupted")

    def _ready(self) -> Worker | Refusal | None:
        """A worker that has the model; a refusal when it will not come up; None when the run is to end."""
        if self._worker is not None:
            return self._worker
        while not self._staff.stopped and self._deaths_outside < _DEATHS_OUTSIDE:
            prepared = self._prepare()
            if isinstance(prepared, Worker):
                self._worker = prepared
                return prepared
            self._last_refusal = prepared
            if not isinstance(prepared, Death):
                return prepared
            self._deaths_outside += 1
        return None if self._staff.stopped else self._last_refusal

    def _prepare(self) -> Worker | Refusal:
        worker = self._greeted if self._greeted and self._greeted.alive else self._staff.start("cells")
        self._greeted = None
        if not isinstance(worker, Worker):
            return worker
        for model in self._models:
            refusal = send_model(worker, model)
            if refusal is not None:
                self._staff.dismiss(worker)
                return refusal
        return worker

    def _bury(self) -> None:
        if self._worker is not None:
            self._watcher.died(self._staff.target.name, self._worker.last_words())
        self._retire()

    def _retire(self) -> None:
        """Let the worker go: a thread that escaped control may still run in it."""
        if self._worker is not None:
            self._staff.dismiss(self._worker)
            self._worker = None


def _noting(answer: Answer, unwatched: str) -> Answer:
    """Add to what came of a cell that no other process was watched in it, and why."""
    sums = answer if isinstance(answer, CellResult) else answer.sums
    note = Finding("unwatched", f"no other process on the device was watched: {unwatched}")
    noted = msgspec.structs.replace(sums, findings=(*sums.findings, note))
    return noted if isinstance(answer, CellResult) else msgspec.structs.replace(answer, sums=noted)
