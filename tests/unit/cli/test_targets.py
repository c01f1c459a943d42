import msgspec
import pytest

from harness.cli.targets import PRESETS
from harness.suite.plan import Cell, ServiceSpec


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_cell_has_one_digest_on_both_sides_of_the_wire(preset):
    """A token carries the worker's digest, a cell file the supervisor's: 0 and 0.0 are two texts in JSON."""
    cell = Cell("many-clients", PRESETS[preset], ServiceSpec("queue"), "00")
    assert msgspec.json.decode(msgspec.json.encode(cell), type=Cell).digest == cell.digest
