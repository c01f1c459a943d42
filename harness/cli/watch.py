"""Shows how a run goes: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from harness.cli.output import complain, say
from harness.supervisor.cells import CONTROLS
from harness.verdict import Verdict

if TYPE_CHECKING:
    from harness.suite.plan import Plan
    from harness.supervisor.cells import Watcher
    from harness.verdict import CellResult

__all__ = ["PlainWatcher", "watching"]


@contextmanager
def watching(plan: Plan, *, verbose: bool = False) -> Generator[Watcher]:
    """A watcher for this plan, for the length of a block. `verbose` shows what a dead worker wrote last."""
    console = Console()
    if not console.is_terminal:
        yield PlainWatcher(verbose=verbose)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[doing]}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        yield _LiveWatcher(progress, len(plan.scenarios), verbose=verbose)


class PlainWatcher:
    """One line for each cell that is done. Called from several threads: each line is one write."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._verbose = verbose

    def died(self, target: str, last_words: tuple[str, ...]) -> None:
        """Show the last lines to whoever asked for them."""
        for line in last_words if self._verbose else ():
            complain(f"{target}: worker: {line}")

    def stage(self, target: str, service: str, text: str) -> None:
        """Stages are too short to log."""

    def execution(self, target: str, service: str, scenario: str, number: int) -> None:
        """Executions are too many to log."""

    def finished(self, target: str, service: str, result: CellResult) -> None:
        """Write the line. A cell that never ran is in the table, with the reason."""
        if result.verdict is Verdict.NOT_RUN:
            return
        say(f"{target}  {_short(service)}  {result.scenario}  {result.verdict}  {result.executions} executions")


class _LiveWatcher:
    """One bar for each target and service. Progress locks for itself."""

    def __init__(self, progress: Progress, cells: int, *, verbose: bool) -> None:
        self._progress = progress
        self._verbose = verbose
        self._cells = cells
        self._bars: dict[tuple[str, str], TaskID] = {}

    def stage(self, target: str, service: str, text: str) -> None:
        self._progress.update(self._bar(target, service), doing=text)

    def execution(self, target: str, service: str, scenario: str, number: int) -> None:
        self._progress.update(self._bar(target, service), doing=f"{scenario}, execution {number}")

    def finished(self, target: str, service: str, result: CellResult) -> None:
        self._progress.update(self._bar(target, service), advance=1, doing="")
        if result.verdict not in {Verdict.PASS, Verdict.NOT_APPLICABLE}:
            line = f"{result.verdict}  {target} / {_short(service)}: {result.scenario}"
            self._progress.console.print(line, markup=False, highlight=False)

    def died(self, target: str, last_words: tuple[str, ...]) -> None:
        for line in last_words if self._verbose else ():
            self._progress.console.print(f"{target}: worker: {line}", markup=False, highlight=False)

    def _bar(self, target: str, service: str) -> TaskID:
        key = (target, service)
        if key not in self._bars:
            label = f"{target} / {_short(service)}"
            total = None if service == CONTROLS else self._cells
            self._bars[key] = self._progress.add_task(label, total=total, doing="")
        return self._bars[key]


def _short(service: str) -> str:
    return service.rpartition("/")[2]
