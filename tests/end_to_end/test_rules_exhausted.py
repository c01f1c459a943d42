"""Every rule of the service contract is searched whole, in its scenarios' smallest configurations, as far as that goes.

RACEGATE_SEARCH_SECONDS=3600 pytest -m soak --timeout 0 tests/end_to_end/test_rules_exhausted.py

With two preemptions, as far as it goes in the time for a scenario; a violation or UNKNOWN fails.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest
from searched_table import (
    OF_THE_FRONT,
    PAGE,
    RULES,
    SMALLEST_OF_THE_FRONT,
    SMALLEST_ONES,
    keep_row,
    rows,
    searched,
    spaces,
    total,
)

from scenarios.catalogue import SCENARIOS

LIMIT = float(os.environ.get("RACEGATE_SEARCH_SECONDS", "120"))
BOUND = 2
AT_ONCE = 8
"""Spaces of one service that a command searches, one after the other: each command runs the controls as well."""


@dataclass(frozen=True)
class Found:
    """What a search said of one space. `cells` are those of its row."""

    verdict: str
    cells: tuple[str, ...]


def explore(group, out):
    """Search some spaces of one service, and return what was printed."""
    command = [
        *(sys.executable, "-m", "harness.cli.main", "explore", *group[0].options),
        *(part for space in group for part in ("--scenario", space.reference)),
        *("--strategy", "exhaustive", "--bound", str(BOUND), "--seconds", str(LIMIT)),
        *("-j", "1", "--seed", "1", "--out", str(out)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def read(space, said):
    """What was said of one space."""
    verdict = re.search(rf"^numpy +{re.escape(space.service)} +{space.scenario} +(\w+)", said, re.MULTILINE)
    extent = re.search(
        rf"^{space.scenario} +(\d+) executions of about (\d+) decision points in ([\d.]+) s; (.*)$", said, re.MULTILINE
    )
    if verdict is None or extent is None:
        return Found(said, cells=())
    executions, points, seconds, how_far = extent.groups()
    whole = re.search(r"(?:^|; )every (?:schedule|one) with at most (\d)", how_far)
    return Found(
        verdict[1],
        cells=(f"{int(executions):,}", points, seconds, searched(-1 if whole is None else int(whole[1]))),
    )


class Searches:
    """Searches the spaces that were asked for, some at once."""

    def __init__(self, wanted, out):
        self._wanted = wanted
        self._out = out
        self._found = {}

    def of(self, space):
        if space not in self._found:
            left = (each for each in self._wanted if each not in self._found and each.options == space.options)
            group = [space, *(each for each in left if each != space)][:AT_ONCE]
            said = explore(group, self._out)
            self._found.update({each: read(each, said) for each in group})
        return self._found[space]


@pytest.fixture(scope="module")
def searches(request, tmp_path_factory):
    specs = (getattr(item, "callspec", None) for item in request.session.items)
    wanted = [spec.params["space"] for spec in specs if spec is not None and "space" in spec.params]
    return Searches(wanted, tmp_path_factory.mktemp("out"))


@pytest.mark.soak
@pytest.mark.parametrize("space", spaces(), ids=lambda space: f"{space.scenario}-{space.service}")
def test_a_rule_is_searched(space, searches):
    found = searches.of(space)
    assert found.verdict == "PASS"
    keep_row(space, found.cells)


def test_every_scenario_of_the_contract_has_a_row_and_no_other_has_one():
    keys = [space.key for space in spaces()]
    assert len(set(keys)) == len(keys)
    assert set(rows()) == set(keys), "run the soak test above for the scenarios that are missing; -k takes their names"


def test_every_rule_has_a_scenario_and_what_is_left_out_is_inside_native_code():
    assert {space.point for space in spaces()} == set(RULES)
    left_out = SCENARIOS.keys() - {space.scenario for space in spaces()}
    assert left_out == {name for name, scenario in SCENARIOS.items() if scenario.native == "held"}
    assert SMALLEST_ONES.keys() <= SCENARIOS.keys()
    assert SMALLEST_OF_THE_FRONT.keys() <= set(OF_THE_FRONT) <= SCENARIOS.keys()


def test_every_scenario_is_whole_with_two_preemptions_somewhere():
    whole = {key for key, row in rows().items() if row.strip("| ").endswith(searched(BOUND))}
    assert {space.scenario for space in spaces() if space.key in whole} == {space.scenario for space in spaces()}


def test_a_row_says_what_was_searched():
    for key, row in rows().items():
        executions, points, seconds, extent = row.strip("| ").split(" | ")[3:]
        assert int(executions.replace(",", "")) > 0, key
        assert int(points) > 0, key
        assert float(seconds) >= 0, key
        assert extent in {searched(whole_to) for whole_to in range(-1, BOUND + 1)}, key


def test_the_page_counts_its_rows():
    assert f"\n\n{total(list(rows().values()))}\n\n" in PAGE.read_text()
