"""`cell.json`: everything that a replay needs besides the model's bytes."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal

import msgspec

from harness.oracle.expectations import Expectations
from harness.suite.plan import Cell, by_file_name
from harness.verdict import CellResult

__all__ = ["CellFile", "cell_file"]


class CellFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One failing cell with its expectations, and the tokens that were found in it."""

    schema: Literal["cell/1"]
    cell: Cell
    expectations: Expectations
    model_suffix: str
    tokens: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file's name: the twelve digits that a token carries."""
        return f"cell-{self.cell.digest[:12]}.json"


def _without_folder(reference: str) -> str:
    kind, _, path = reference.rpartition("external:")
    if not path.startswith(("../", "/")):
        return reference
    return f"{kind}external:{PurePosixPath(path).name}" if kind or "external:" in reference else by_file_name(path)


def cell_file(cell: Cell, expectations: Expectations, suffix: str, result: CellResult) -> CellFile:
    """Make the file for a cell.

    The worker's command stays out, and so do folders outside the working directory: no schedule depends on them, and
    they may say whose machine it is. A replay is then told where the files are.
    """
    target = msgspec.structs.replace(cell.target, python="", command=(), delegate=_without_folder(cell.target.delegate))
    service = msgspec.structs.replace(cell.service, name=_without_folder(cell.service.name))
    cell = msgspec.structs.replace(cell, target=target, service=service, scenario=_without_folder(cell.scenario))
    return CellFile("cell/1", cell, expectations, suffix, tuple(failure.token for failure in result.failures))
