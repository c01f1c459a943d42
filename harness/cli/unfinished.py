"""The folder of a run that is not over: what it has found so far, so that `racegate run --resume` can finish it.

`OUT/.unfinished-TIME-XXXX/` holds `run.json`, which says what the run was asked, and one file for each thing that is
done: `cell-*.json`, `begun-*.json` for a target with a service, `written-*.json` for one with its receipt. Each file is
there whole or not at all, and its first line is the digest of the rest. The folder is removed when the last receipt is
written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from harness.cli.plan_facts import differences
from harness.suite.plan import Cell
from harness.supervisor.cells import PlanError
from harness.supervisor.journal import content_digest
from harness.supervisor.run import Finished
from harness.verdict import CellResult
from reports.atomic import write_atomically
from reports.held import HeldFolder, hold, new_held_folder

__all__ = ["Unfinished", "begin_run", "listed", "unfinished_runs"]

_PREFIX = ".unfinished-"
_HEADER = "run.json"
Content = TypeVar("Content")


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the run was asked."""

    schema: Literal["unfinished/1"]
    seed: int
    facts: Mapping[str, str]


class _Begun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pair that was begun."""

    started_on: str
    facts: Mapping[str, str]


class Unfinished:
    """A run that is not over, in a folder that this process holds. The journal of `run_plan`; used from any thread.

    Every method that keeps something raises OSError where it cannot be written.
    """

    def __init__(self, held: HeldFolder, header: _Header) -> None:
        self._held = held
        self._header = header
        self._earlier = frozenset(path.name for path in held.path.iterdir())

    @property
    def name(self) -> str:
        """The folder's name."""
        return self._held.path.name

    @property
    def seed(self) -> int:
        """The run's seed."""
        return self._header.seed

    @property
    def cells(self) -> int:
        """How many cells are done."""
        return sum(1 for _ in self._held.path.glob("cell-*.json"))

    def changed(self, facts: Mapping[str, str]) -> tuple[str, ...]:
        """What is not as it was when the run began."""
        return differences(facts, self._header.facts)

    def begin(self, key: str, pair: str, facts: Mapping[str, str], started_on: str) -> str:
        """Begin a pair or go on with it: see `Journal`."""
        name = f"begun-{key}.json"
        begun = self._read(name, _Begun)
        if begun is None and name in self._earlier:
            message = f"--resume: {pair}: {name} is damaged, and what its cells rest on is not known; run it anew"
            raise PlanError(message)
        if begun is None:
            self._write(name, _Begun(started_on, facts))
            return started_on
        if changed := differences(facts, begun.facts):
            message = f"--resume: {pair}: {listed(changed)} changed since the run was interrupted; run it anew"
            raise PlanError(message)
        return begun.started_on

    def recall(self, cell: Cell) -> CellResult | None:
        """Return what an earlier run found in this cell."""
        return self._read(_cell_file(cell), CellResult)

    def keep(self, cell: Cell, result: CellResult) -> None:
        """Keep what was found in a cell."""
        self._write(_cell_file(cell), _without_lines(result))

    def keep_written(self, finished: Finished) -> None:
        """Keep what a receipt is about to be written of: the same receipt, if this process dies before it is there."""
        record = finished.record
        cells = tuple(map(_without_lines, record.cells))
        controls = tuple(replace(control, cell=_without_lines(control.cell)) for control in record.controls)
        kept = Finished(key=finished.key, record=replace(record, cells=cells, controls=controls), files=finished.files)
        self._write(f"written-{finished.key}.json", kept)

    def written(self) -> Iterator[Finished]:
        """What earlier runs wrote receipts of, or were about to."""
        for name in sorted(self._earlier):
            if name.startswith("written-"):
                finished = self._read(name, Finished)
                if finished is not None:
                    yield finished

    def close(self, *, over: bool) -> None:
        """Let go of the folder, and remove it where the run is over or found nothing worth keeping."""
        if over or not self.cells:
            # In one step, or a kill in the middle of the removal would make a finished run look unfinished.
            with suppress(OSError):
                self._held.rename(f".{self.name.removeprefix(_PREFIX)}.partial-over")
            self._held.remove()
        else:
            self._held.release()

    def _write(self, name: str, content: object) -> None:
        _keep(self._held.path / name, content)

    def _read(self, name: str, into: type[Content]) -> Content | None:
        """What an earlier run kept under this name. What is damaged counts for nothing, and is found out again."""
        return _checked(self._held.path / name, into) if name in self._earlier else None


def begin_run(out: Path, seed: int, facts: Mapping[str, str]) -> Unfinished:
    """Begin a run with these facts in this output folder. Raises OSError."""
    out.mkdir(parents=True, exist_ok=True)
    held = new_held_folder(out, f"{_PREFIX}{datetime.now(UTC):%Y%m%dT%H%M%SZ}-")
    header = _Header("unfinished/1", seed, facts)
    try:
        _keep(held.path / _HEADER, header)
    except BaseException:
        held.remove()
        raise
    return Unfinished(held, header)


def unfinished_runs(out: Path) -> list[Unfinished]:
    """The runs of an output folder that were left unfinished, newest first; each is held and must be closed.

    One that still runs is not among them. One that never got as far as its header is removed.
    """
    found: list[Unfinished] = []
    for path in sorted(out.glob(f"{_PREFIX}*"), reverse=True):
        held = hold(path)
        if held is None:
            continue
        header = _checked(path / _HEADER, _Header)
        if header is None:
            held.remove()
        else:
            found.append(Unfinished(held, header))
    return found


def _without_lines(result: CellResult) -> CellResult:
    """A result without the source text of its failures: no file ever holds that."""
    return replace(result, failures=tuple(replace(failure, lines={}) for failure in result.failures))


def _cell_file(cell: Cell) -> str:
    return f"cell-{content_digest(cell)}.json"


def _keep(path: Path, content: object) -> None:
    body = msgspec.json.encode(content, order="deterministic")
    write_atomically(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def _checked(path: Path, into: type[Content]) -> Content | None:
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != digest:
            return None
        return msgspec.json.decode(body, type=into)
    except (OSError, msgspec.MsgspecError):
        return None


def listed(names: tuple[str, ...]) -> str:
    """The names as a person lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
