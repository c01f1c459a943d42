"""What the style asks of the tree and no linter knows."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("adapters", "harness", "reports", "scenarios")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
NAMES_NOBODY_UNDERSTANDS = {"util", "utils", "helper", "helpers", "common", "manager", "misc", "junkdrawer"}


def test_no_file_is_longer_than_400_lines():
    long = {
        str(path.relative_to(ROOT)): lines for path in SOURCES if (lines := len(path.read_text().splitlines())) > 400
    }
    assert not long


def test_no_module_has_a_name_that_says_nothing():
    assert not [path for path in SOURCES if path.stem in NAMES_NOBODY_UNDERSTANDS]


def test_nine_functions_in_ten_have_at_most_35_lines():
    lengths = sorted(
        (node.end_lineno or 0) - node.lineno + 1
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert lengths[len(lengths) // 2] <= 10
    assert lengths[len(lengths) * 9 // 10] <= 35


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_with_public_names_says_which(path):
    tree = ast.parse(path.read_text())
    public = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    exports = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and any(isinstance(name, ast.Name) and name.id == "__all__" for name in node.targets)
    ]
    if not public or path.stem.startswith("__"):
        return
    assert exports, "a module with public names has an __all__"
    assert set(exports[0]) <= _bound(tree), "__all__ names what is there"


def _bound(tree):
    names = set()
    inner = (each for node in tree.body if isinstance(node, ast.If) for each in node.body)
    for node in (*tree.body, *inner):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names


def test_no_tracked_file_names_a_package_host_or_a_path_of_a_machine():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    forbidden = [b"pypi" + b".org", b"files.python" + b"hosted", b"/ro" + b"ot/", b"/wor" + b"k/main", b"/ho" + b"me/"]
    found = []
    for name in tracked:
        path = ROOT / name.decode()
        if (
            name and path.is_file() and path.parts[len(ROOT.parts)] != "tests"
        ):  # tests plant such paths and look for them
            content = path.read_bytes()
            found += [(name.decode(), word.decode()) for word in forbidden if word in content]
    assert not found
