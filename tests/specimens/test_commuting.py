"""What wrong services do is judged the same after events that commute have changed places."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "unit" / "execution"))  # importlib mode: the other module lies there
from commuting import change_places


def test_neighbours_that_commute_can_change_places(bench, specimen):
    for history in bench.histories(specimen, 12):
        change_places(history)
