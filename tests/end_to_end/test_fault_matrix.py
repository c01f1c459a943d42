"""docs/fault-matrix.md says what each fault does, on each runtime, and leaves nothing out."""

import importlib.util
import os
import pathlib

import pytest

from harness.faults.catalogue import FAMILIES
from harness.models.registry import load_adapter

_FOUND = importlib.util.spec_from_file_location("fault_matrix", pathlib.Path(__file__).with_name("fault_matrix.py"))
assert _FOUND is not None
assert _FOUND.loader is not None
fault_matrix = importlib.util.module_from_spec(_FOUND)
_FOUND.loader.exec_module(fault_matrix)

PARTS = 4
"""How the hit ended, the neighbours, the way back, and whether all is back."""


def test_every_fault_has_its_row_and_no_cell_is_empty():
    rows = fault_matrix.read()
    assert set(rows) == {(fault, service) for fault in FAMILIES for service in fault_matrix.SERVICES}
    for row, cells in rows.items():
        assert len(cells) == len(fault_matrix.ADAPTERS), row
        for cell in cells:
            reason = cell.removeprefix("no: ") if cell.startswith("no: ") else ""
            parts = [part.strip() for part in cell.split(";")]
            assert len(reason) > 10 or (len(parts) == PARTS and all(parts)), f"{row}: {cell!r}"


def test_every_cell_that_the_page_shows_is_back_at_its_baseline():
    shown = [cell for cells in fault_matrix.read().values() for cell in cells if not cell.startswith("no: ")]
    assert len(shown) > len(FAMILIES)
    assert [cell for cell in shown if cell.rpartition("; ")[2] != "yes"] == []


def test_one_cell_is_made_as_the_page_says():
    rows, done = fault_matrix.run("numpy", "context-lost", "pool")
    assert done.returncode == 0, done.stderr
    assert fault_matrix.shown(rows[0]) == fault_matrix.read()["context-lost", "pool"][0]


@pytest.mark.soak
def test_the_page_is_what_is_measured():
    missing = [name for name in fault_matrix.ADAPTERS if not load_adapter(name).probe().importable]
    if missing:
        pytest.skip(f"the page is about {', '.join(missing)}, too")
    cells = fault_matrix.matrix()
    if os.environ.get("RACEGATE_REFRESH_DOCS"):
        fault_matrix.write(fault_matrix.render(cells))
    adapters = list(fault_matrix.ADAPTERS)
    said = {
        (*row, adapter): cell
        for row, told in fault_matrix.read().items()
        for adapter, cell in zip(adapters, told, strict=True)
    }
    assert said == cells
