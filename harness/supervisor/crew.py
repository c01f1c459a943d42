"""The workers that explore the cells of one pair side by side: whole cells first, then shares of the rest.

A cell whose result the journal has is not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import TYPE_CHECKING

import msgspec

from harness.execution.share import ShareReport, merge
from harness.suite.plan import Share
from harness.supervisor.cells import Answer, CellRunner
from harness.verdict import BAD, CellResult, Verdict

if TYPE_CHECKING:
    from adapters.base import ModelFile
    from harness.oracle.expectations import Expectations
    from harness.suite.plan import Cell
    from harness.supervisor.cells import Watcher
    from harness.supervisor.journal import Journal
    from harness.supervisor.neighbour import NeighbourProcess
    from harness.supervisor.process import Worker
    from harness.supervisor.staff import Staff
    from harness.worker.protocol import ScenarioRecord

__all__ = ["Crew", "divide", "together"]


class Crew:
    """One worker for each staff. Used from one thread, which hears of the results too; `close` must be called.

    `first` is a worker of the first staff that is up already; the workers share the `neighbour`.
    """

    def __init__(
        self,
        staffs: Sequence[Staff],
        model: ModelFile,
        service: str,
        watcher: Watcher,
        first: Worker | None,
        journal: Journal,
        next_model: ModelFile | None = None,
        neighbour: NeighbourProcess | None = None,
    ) -> None:
        self._staff = staffs[0]
        self._journal = journal
        self._service = service
        self._watcher = watcher
        self._runners = [
            CellRunner(staff, model, service, watcher, None if number else first, next_model, neighbour)
            for number, staff in enumerate(staffs)
        ]

    def run(
        self, cells: Sequence[Cell], scenarios: Sequence[ScenarioRecord], expectations: Expectations
    ) -> tuple[CellResult, ...]:
        """Return one result for each cell, in order.

        Raises PlanError where a worker finds a request unusable, OSError where a result cannot be kept.
        """
        known = {number: kept for number, cell in enumerate(cells) if (kept := self._journal.recall(cell)) is not None}
        missing = [number for number in range(len(cells)) if number not in known]
        if known:
            told = f"{len(known)} of {len(cells)} cells were done before"
            self._watcher.stage(self._staff.target.name, self._service, told)
        if missing:
            found = self._explore(
                [cells[each] for each in missing], [scenarios[each] for each in missing], expectations
            )
            known |= dict(zip(missing, found, strict=True))
        return tuple(known[number] for number in range(len(cells)))

    def _explore(
        self, cells: Sequence[Cell], scenarios: Sequence[ScenarioRecord], expectations: Expectations
    ) -> tuple[CellResult, ...]:
        idle: SimpleQueue[CellRunner] = SimpleQueue()
        for runner in self._runners:
            idle.put(runner)

        def explore(cell: int, share: Share) -> Answer:
            runner = idle.get()
            try:
                return runner.run(cells[cell], scenarios[cell], expectations, share)
            finally:
                idle.put(runner)

        with ThreadPoolExecutor(max_workers=len(self._runners), thread_name_prefix="cell") as pool:
            places = {pool.submit(explore, cell, share): (cell, share) for cell, share in self._dealt(len(cells))}
            try:
                return self._collect(places, cells)
            except BaseException:
                self._staff.stop()  # else the other workers would go on to the end of their cells
                raise

    def close(self) -> None:
        """Stop the workers."""
        for runner in self._runners:
            runner.close()

    def _dealt(self, cells: int) -> list[tuple[int, Share]]:
        shares = divide(cells, len(self._runners))
        return [(cell, Share(index, of)) for cell, of in enumerate(shares) for index in range(of)]

    def _collect(
        self, places: dict[Future[Answer], tuple[int, Share]], cells: Sequence[Cell]
    ) -> tuple[CellResult, ...]:
        answers: dict[int, dict[int, Answer]] = {cell: {} for cell in range(len(cells))}
        results: dict[int, CellResult] = {}
        for future in as_completed(places):
            cell, share = places[future]
            answers[cell][share.index] = future.result()
            if len(answers[cell]) == share.of:
                results[cell] = together([answers[cell][index] for index in range(share.of)])
                self._keep(cells[cell], results[cell])
                self._watcher.finished(self._staff.target.name, self._service, results[cell])
        return tuple(results[cell] for cell in range(len(cells)))

    def _keep(self, cell: Cell, result: CellResult) -> None:
        """Keep what is whole. Once the run is stopped a result may rest on shares that were cut short."""
        if result.verdict is not Verdict.NOT_RUN and not self._staff.stopped:
            self._journal.keep(cell, result)


def divide(cells: int, workers: int) -> list[int]:
    """Into how many shares each cell is split: none of them while there are as many cells left as workers."""
    rest = cells % workers
    return [1] * (cells - rest) + [workers // rest + (place < workers % rest) for place in range(rest)]


def together(answers: Sequence[Answer]) -> CellResult:
    """The result of a cell from what came of its shares, in their order.

    A share that was lost decides as a lost cell does, a death before all else, and what the others found is kept. What
    they found to be violated counts also where a share could not be run.
    """
    lost = [answer for answer in answers if isinstance(answer, CellResult)]
    reports = [answer for answer in answers if isinstance(answer, ShareReport)]
    if not lost:
        return merge(reports)
    worst = next((result for result in lost if result.verdict in BAD), lost[0])
    if not reports:
        return worst
    sums = merge(reports)
    if sums.exploration is not None:
        sums = msgspec.structs.replace(sums, exploration=msgspec.structs.replace(sums.exploration, whole_to=-1))
    if sums.verdict is Verdict.FAIL and worst.verdict not in BAD:
        return sums
    return msgspec.structs.replace(sums, verdict=worst.verdict, reason=worst.reason)
