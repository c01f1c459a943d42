"""The documents name what there is, and nothing that there is not."""

from __future__ import annotations

import argparse
import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from harness.cli.list_command import _LISTS
from harness.cli.main import COMMANDS
from harness.faults.catalogue import FAMILIES
from harness.invariants.catalogue import CATALOGUE
from harness.models.registry import adapter_names
from harness.scenario import Point
from harness.suite.file import parse_suite
from harness.verdict import Verdict
from scenarios.catalogue import SCENARIOS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
TEXT = "\n".join(path.read_text() for path in DOCUMENTS)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


def words(text: str) -> set[str]:
    """What stands in backticks, and each name in it."""
    return {word for span in re.findall(r"`([^`\n]+)`", text) for word in (span, *re.findall(r"[-:\w]+", span))}


def prose(path: Path) -> str:
    return re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_relative_link_leads_somewhere(path):
    for link in LINK.findall(prose(path)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_document_can_be_reached_from_the_index():
    linked = {(DOCS / link.partition("#")[0]).name for link in LINK.findall((DOCS / "index.md").read_text())}
    assert {path.name for path in DOCS.glob("*.md")} - linked == {"index.md"}


def test_every_example_is_named_in_a_document_or_says_how_to_run_it():
    for path in (path for path in (DOCS / "examples").iterdir() if path.is_file()):
        assert path.name in TEXT or f"docs/examples/{path.name}" in path.read_text(), path.name


def options(command: str) -> set[str]:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    importlib.import_module(f"harness.cli.{command}_command").add_arguments(parser)
    return {name for action in parser._actions for name in action.option_strings} - {"-h", "--help"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_flag_is_described(command):
    assert f"`racegate {command}" in TEXT
    described = words("\n".join(map(prose, DOCUMENTS)))
    assert options(command) <= described


def test_no_flag_is_described_that_no_command_has():
    known = set().union(*map(options, COMMANDS)) | {"--help", "--version"}
    used = {flag for line in re.findall(r"racegate [a-z]+ [^`\n|]*", TEXT) for flag in re.findall(r"--[a-z-]+", line)}
    assert used <= known


def calls(tree: ast.AST):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, node.args


@cache
def recorded() -> set[str]:
    """Every kind of event that the code records: a literal, or a step of a run with its begin and end."""
    kinds = set()
    for path in (ROOT / "harness").rglob("*.py"):
        for name, args in calls(ast.parse(path.read_text())):
            place = {"record": 0, "record_future": 0, "record_of": 1}.get(name)
            if place is None or len(args) <= place:
                continue
            kind = args[place]
            if isinstance(kind, ast.Constant):
                kinds.add(kind.value)
            elif isinstance(kind, ast.JoinedStr):
                kinds |= {f"{point}{kind.values[-1].value}" for point in get_args(Point)}
    return kinds


def test_the_history_document_lists_every_kind_that_is_recorded_and_no_other():
    listed = set()
    for word in words((DOCS / "history.md").read_text()):
        begin, slash, end = word.partition("-begin/")
        listed |= {f"{begin}-begin", f"{begin}-end"} if slash and end == "end" else {word}
    missing = recorded() - listed
    assert {"deliver", "bind-begin", "stuck", "dequeue", "session-open-end"} <= recorded()
    assert not missing
    rows = re.findall(r"^\| ([^|]*) \|", (DOCS / "history.md").read_text(), re.MULTILINE)
    for word in re.findall(r"`([^`]+)`", " ".join(rows)):
        begin, slash, _ = word.partition("-begin/")
        assert (f"{begin}-begin" if slash else word) in recorded(), word


def test_the_invariants_and_faults_are_those_there_are():
    assert re.findall(r"^\| `([\w-]+)` \|", (DOCS / "invariants.md").read_text(), re.MULTILINE) == list(CATALOGUE)
    designed = re.findall(r"^\| `([\w-]+)` \| (?!\*\(planned\)\*)", (DOCS / "design.md").read_text(), re.MULTILINE)
    assert set(designed) == set(CATALOGUE)
    rows = re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \|", (DOCS / "faults.md").read_text(), re.MULTILINE)
    assert dict(rows) == {name: fault.point for name, fault in FAMILIES.items()}


def test_lists_adapters_capabilities_points_and_verdicts_are_named():
    assert set(_LISTS) <= words((DOCS / "index.md").read_text())
    assert set(adapter_names()[:4]) <= words((DOCS / "runtimes.md").read_text())
    assert {need for each in SCENARIOS.values() for need in each.requires} <= words(
        (DOCS / "your-own-queue.md").read_text()
    )
    assert set(get_args(Point)) <= words((DOCS / "scenarios.md").read_text())
    assert all(str(verdict) in (DOCS / "your-own-queue.md").read_text() for verdict in Verdict)


def test_the_suite_of_the_document_is_valid_and_shows_every_key():
    example = re.search(r"```toml\n(.*?)```", (DOCS / "suites.md").read_text(), re.DOTALL)[1]
    suite = parse_suite(example, "suites.md")
    keys = set(re.findall(r"^(?:# )?(\w+) =", example, re.MULTILINE)) | {
        "options",
        "target",
        "service",
        "control",
        "fault",
    }
    for part in (suite, suite.budget, suite.targets[0], suite.services[0], suite.controls[0], suite.faults[0]):
        assert {field.encode_name for field in msgspec.structs.fields(part)} - {"budget"} <= keys


def test_every_test_that_a_document_names_is_there():
    there = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(path.read_text())
        there |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)} | {path.stem}
    named = {word for span in re.findall(r"`([^`\n]+)`", TEXT) for word in re.findall(r"\btest_\w+", span)}
    assert named
    assert not named - there
