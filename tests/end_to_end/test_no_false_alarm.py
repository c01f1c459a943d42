"""The correct queue and pool pass every scenario under random schedules, and every invariant had something to judge."""

import re
from pathlib import Path

import pytest
from command_line import predicate
from coverage_table import premises, render, totals

from harness.invariants.catalogue import CATALOGUE
from harness.models.registry import load_adapter
from scenarios.catalogue import SCENARIOS

COVERAGE = Path(__file__).parents[2] / "docs/coverage.md"
HELD = tuple(name for name, scenario in SCENARIOS.items() if scenario.endless)
"""They hold a run inside native code: that takes builtin:slow and a runtime that can be interrupted."""
INSIDE = tuple(name for name, scenario in SCENARIOS.items() if scenario.arms)
"""A fault strikes inside native code in them, of which numpy has none."""
SHAPED = tuple(name for name, scenario in SCENARIOS.items() if "dynamic-shapes" in scenario.requires)
"""Shapes change in them: that takes a model with dynamic dimensions."""
STAGED = tuple(name for name, scenario in SCENARIOS.items() if "pipeline" in scenario.requires)
"""They are for a pipeline, which neither the queue nor the pool is."""
INTERRUPTS = ("numpy", "onnxruntime", "tflite")
REAL = ("onnxruntime", "litert", "tflite")
SUITE = """
schema = "suite/1"
id = "no-false-alarm"
version = "1"
scenarios = ["*"]
hang_after = 120.0
seed = 1
budget = {{ executions = {executions}, strategy = "random" }}
[[service]]
name = "queue"
[[service]]
name = "pool"
slots = 2
"""


def explored(racegate, targets, executions):
    """Run every scenario on the targets; nothing but PASS is right, and the held ones are said not to apply."""
    (racegate.folder / "s.toml").write_text(SUITE.format(executions=executions))
    predicates = receipts(racegate, "all", targets)
    for found in predicates:
        left_out = {*HELD, *SHAPED, *STAGED, *(INSIDE if found["runtime"]["name"] == "numpy" else ())}
        verdicts = {entry["id"]: entry["verdict"] for entry in found["scenarios"]}
        assert verdicts == {name: "NOT_APPLICABLE" if name in left_out else "PASS" for name in SCENARIOS}
        for entry in found["scenarios"]:
            assert entry["executions"] == (0 if entry["id"] in left_out else executions), entry["id"]
            assert entry["violations"] == []
    return predicates


def held(racegate, targets, executions):
    """Run the scenarios that need another model."""
    interruptible = tuple(name for name in targets if name in INTERRUPTS)
    wanted = (
        "--model",
        "builtin:slow",
        *(part for name in HELD for part in ("--scenario", name)),
        "--executions",
        executions,
    )
    predicates = receipts(racegate, "held", interruptible, *wanted)
    assert {entry["verdict"] for found in predicates for entry in found["scenarios"]} == {"PASS"}
    return predicates


def shaped(racegate, targets, executions):
    """Run the scenarios in which shapes change, on a model that has several."""
    named = [part for name in SHAPED for part in ("--scenario", name)]
    predicates = receipts(racegate, "shaped", targets, "--model", "builtin:rows", *named, "--executions", executions)
    assert {entry["verdict"] for found in predicates for entry in found["scenarios"]} == {"PASS"}
    return predicates


def receipts(racegate, folder, targets, *args):
    """What the run's receipts say: one for each target and service."""
    out = racegate.folder / folder / "-".join(targets)
    named = [part for name in targets for part in ("--target", name)]
    done = racegate("run", "s.toml", "--out", out, *named, *args, timeout=7000)
    assert done.code == 0, done.text
    predicates = [predicate(run) for run in sorted(out.iterdir())]
    assert len(predicates) == 2 * len(targets)
    return predicates


def none_is_zero(found):
    for service, rows in found.items():
        counts = totals(rows)
        assert [name for name in CATALOGUE if not counts[name]] == [], service


@pytest.mark.runtime
def test_a_few_executions_of_every_scenario(racegate, require_runtime):
    require_runtime("onnxruntime")
    targets = ("numpy", "onnxruntime")
    found = premises(explored(racegate, targets, 20) + held(racegate, targets, 5) + shaped(racegate, targets, 5))
    assert found.keys() == {"queue", "pool"}
    none_is_zero(found)


@pytest.mark.soak
@pytest.mark.runtime
@pytest.mark.timeout(7200)
def test_a_thousand_on_the_reference_and_a_hundred_on_each_runtime(racegate):
    real = [name for name in REAL if load_adapter(name).probe().importable]
    assert real, "a soak without a runtime proves nothing about one"
    predicates = explored(racegate, ("numpy",), 1000) + explored(racegate, real, 100)
    predicates += held(racegate, ("numpy", *real), 100) + shaped(racegate, ("numpy", *real), 100)
    found = premises(predicates)
    none_is_zero(found)
    named = sorted({f"{item['runtime']['name']} {item['runtime']['version']}" for item in predicates})
    on = ", ".join(name for name in named if not name.startswith("numpy"))
    budget = f"1,000 executions of each scenario on the numpy reference,\n100 on each of {on}"
    COVERAGE.write_text(render(found, CATALOGUE, budget))


def test_the_table_in_the_docs_knows_every_scenario_and_invariant():
    text = COVERAGE.read_text()
    tables = re.findall(r"^## (queue|pool)\n\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert [service for service, _ in tables] == ["pool", "queue"]
    for _, table in tables:
        head, _, *rows, total = [line.strip("| \n").split(" | ") for line in table.splitlines()]
        assert head[1:] == list(CATALOGUE)
        assert [row[0] for row in rows] == sorted(SCENARIOS)
        assert "·" not in total
