import inspect
import sys

import pytest

from harness.execution.arming import may_strike
from harness.scenario import scenario
from scenarios.catalogue import SCENARIOS


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_every_scenario_that_arms_a_fault_is_known_to(name):
    """The texts of the built-in scenarios, and of what else stands in their files, are the other way to know it."""
    found = SCENARIOS[name]
    if ".arm(" in inspect.getsource(found.body) or "fault-contained" in found.exercises:
        assert may_strike(found)
    if ".arm(" not in inspect.getsource(sys.modules[found.body.__module__]) and not found.arms:
        assert may_strike(found) is ("fault-contained" in found.exercises)


def by_name(script):
    each(script)


def each(script):
    return [script.arm("run-failure") for _ in range(2)]


@pytest.mark.parametrize(
    ("body", "may"),
    [
        (lambda script: script.arm("run-failure"), True),
        (lambda script: [each(script) for _ in range(2)], True),
        (by_name, True),
        (lambda script: script.close(), False),
    ],
)
def test_a_call_of_arm_is_found_in_what_a_script_calls(body, may):
    assert may_strike(scenario(exercises=(), tasks=1)(body)) is may


def test_functions_that_call_each_other_end():
    def one(script):
        one(script)

    assert not may_strike(scenario(exercises=(), tasks=1)(one))
