"""`cell.json`: everything that a replay needs besides the model's bytes."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.oracle.expectations import Expectations
from harness.suite.plan import Cell
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


def cell_file(cell: Cell, expectations: Expectations, suffix: str, result: CellResult) -> CellFile:
    """Make the file for a cell. The worker's command stays out: it may name folders, and no schedule depends on it."""
    target = msgspec.structs.replace(cell.target, python="", command=())
    cell = msgspec.structs.replace(cell, target=target)
    return CellFile("cell/1", cell, expectations, suffix, tuple(failure.token for failure in result.failures))
