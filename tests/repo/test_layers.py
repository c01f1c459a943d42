"""Every module of ours stands in a layer, so that the import contracts look at it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def layers():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    lines = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return {name for line in lines for name in re.split(r"[\s|:]+", line) if name}


def test_every_module_of_the_harness_is_named_by_a_layer():
    named = layers()
    found = {f"harness.{path.stem}" for path in (ROOT / "harness").glob("*.py") if path.stem != "__init__"}
    found |= {f"harness.{path.parent.name}" for path in (ROOT / "harness").glob("*/__init__.py")}
    assert found == {name for name in named if name.startswith("harness.")}


def test_the_four_packages_are_in_the_distribution_and_in_the_layers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == {
        "adapters",
        "harness",
        "reports",
        "scenarios",
    }
    assert {name.split(".")[0] for name in layers()} == {"adapters", "harness", "reports", "scenarios"}
