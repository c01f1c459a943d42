import os

from harness.invariants.catalogue import CATALOGUE
from harness.verdict import Verdict
from scenarios.catalogue import SCENARIOS

FEW_EXECUTIONS, MOST_EXECUTIONS = 12, 500
"""Most need few, and all of them at most so many."""
TWIN_EXECUTIONS = int(os.environ.get("RACEGATE_TWIN_EXECUTIONS", "30"))
"""In the scenario that catches the specimen; two thirds of it in each general one."""
GENERAL = (
    "many-clients",
    "submit-races-close",
    "close-during-run",
    "queued-cancel",
    "cancel-races-completion",
    "close-from-two-threads",
)
"""What every twin must stand, whatever its specimen got wrong."""
NEVER = {"uncontrolled", "nondeterminism", "budget", "real-time", "scenario-raised", "thread-died"}
"""Findings that would make a pass of a twin worth nothing."""


def test_specimen_is_caught(specimen, bench):
    for scenario in specimen.scenarios:
        result = bench.run(bench.cell(specimen, "specimen", scenario, FEW_EXECUTIONS))
        if specimen.invariant not in confirmed(result):
            result = bench.run(bench.cell(specimen, "specimen", scenario, MOST_EXECUTIONS))
        assert result.verdict is Verdict.FAIL, result.reason
        assert specimen.invariant in confirmed(result), f"{scenario}: {result.findings}"


def confirmed(result):
    """What a replay confirmed."""
    return {violation.invariant for failure in result.failures for violation in failure.violations}


def test_twin_passes_where_the_specimen_fails(specimen, bench):
    for scenario in specimen.scenarios:
        result = bench.run(bench.cell(specimen, "twin", scenario, TWIN_EXECUTIONS))
        assert result.verdict is Verdict.PASS, f"{scenario}: {result.verdict} {result.reason}"
        not_flagged(result)


def test_twin_is_never_flagged(twin_of, bench):
    for scenario in GENERAL:
        if scenario not in twin_of.scenarios:
            result = bench.run(bench.cell(twin_of, "twin", scenario, 2 * TWIN_EXECUTIONS // 3))
            # UNKNOWN where a service never makes a scenario's premise occur.
            assert result.verdict in {Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNKNOWN}, result.reason
            not_flagged(result)


def not_flagged(result):
    failed = [(failure.token, failure.violations, failure.blocked) for failure in result.failures]
    assert not failed, f"{result.scenario}: {failed[0]}"
    assert not NEVER & {finding.kind for finding in result.findings}, f"{result.scenario}: {result.findings}"


def test_specimen_says_what_is_wrong(specimen):
    assert 2 <= len(specimen.docstring.strip().splitlines()) <= 4
    assert "twin" in specimen.docstring
    assert specimen.invariant in CATALOGUE
    assert set(specimen.scenarios) <= SCENARIOS.keys()
    if specimen.path.parent.name != "reports":
        assert specimen.path.parent.name.replace("_", "-") == specimen.invariant


def test_there_are_enough_specimens(specimens):
    reports = [specimen for specimen in specimens if specimen.path.parent.name == "reports"]
    assert len(specimens) - len(reports) >= 60
    assert len(reports) >= 12


def test_every_invariant_has_a_specimen(specimens):
    assert {specimen.path.parent.name.replace("_", "-") for specimen in specimens} >= CATALOGUE.keys()


def test_every_failure_mode_of_a_specimen_is_its_own(specimens):
    docstrings = [specimen.docstring for specimen in specimens]
    assert len(set(docstrings)) == len(docstrings)
