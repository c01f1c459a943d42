"""What the documents show is what the commands print: `RACEGATE_REFRESH_DOCS=1 pytest tests/docs` writes it anew.

A block under `<!-- run: exit N, needs ADAPTER, on MACHINE, installed -->` holds commands, each behind `$ `, with their
output. The blocks of a document run in order, in one folder that has `docs/` in it. In a pipe use `sed`, which reads to
the end, where `head` would break it. A block under `<!-- file: PATH -->` is that file, whole.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.supervisor.identity import version

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REFRESH = bool(os.environ.get("RACEGATE_REFRESH_DOCS"))
MODULES = {"onnxruntime": "onnxruntime", "litert": "ai_edge_litert", "tflite": "tflite_runtime"}
BLOCK = re.compile(r"<!-- (run|file)(?:: ([^>]*?))? -->\n```\w*\n(.*?)```", re.DOTALL)
NAMES = re.compile(r"rg1\.[0-9a-f]{12}\.[0-9a-f]{8}\.[0-9a-z_-]+|\d{8}T\d{6}Z-[a-z0-9-]+-[0-9a-f]{4}")
"""Names that a run makes up and a later command may use: replay tokens and run ids."""
VARYING = (
    (re.compile(r"rg1\.[0-9a-f]{12}\.[0-9a-f]{8}\."), "rg1.CELL.CODE."),
    (re.compile(r"\d{8}T\d{6}Z-([a-z0-9-]+)-[0-9a-f]{4}"), r"RUN-\1"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"\b[0-9a-f]{12}(?:[0-9a-f]{52})?\b"), "DIGEST"),
    (re.compile(r"\b\d+\.\d+\.\d+\b"), "VERSION"),
    (re.compile(r"\b\d+\.\d+ ?s\b"), "SECONDS"),
)
"""Digests change with the source they are over, versions with the machine. The rest must be as printed."""


@dataclass(frozen=True)
class Block:
    """One block of a document: its kind, what its comment asks for, and its text."""

    kind: str
    wanted: str
    text: str
    span: tuple[int, int]

    @property
    def exit_code(self) -> int:
        found = re.search(r"exit (\d+)", self.wanted)
        return int(found[1]) if found else 0

    @property
    def commands(self) -> list[str]:
        return [line.removeprefix("$ ") for line in self.text.splitlines() if line.startswith("$ ")]


def blocks(text: str) -> list[Block]:
    return [Block(found[1], found[2] or "", found[3], found.span(3)) for found in BLOCK.finditer(text)]


def normal(text: str) -> str:
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return text


WITH_BLOCKS = [path for path in DOCUMENTS if path.is_file() and "<!-- run" in path.read_text()]


@pytest.fixture
def shell(tmp_path):
    """Run one line in a folder that has the documents' examples in it, and `racegate` on its path."""
    tools, folder = tmp_path / "bin", tmp_path / "try"
    tools.mkdir()
    folder.mkdir()
    (folder / "docs").symlink_to(ROOT / "docs")
    for name, line in (("racegate", f'"{sys.executable}" -m harness.cli.main'), ("python", f'"{sys.executable}"')):
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec {line} "$@"\n')
        script.chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "RACEGATE_CACHE": str(tmp_path / "cache"),
        "COLUMNS": "100",
        "LC_ALL": "C",
    }

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def missing(block: Block) -> str:
    machine = re.search(r"on (\w+)", block.wanted)
    if machine and machine[1] != platform.machine():
        return machine[1]
    if "installed" in block.wanted and version().startswith("0+"):
        return "racegate itself installed"
    needs = re.search(r"needs (\w+)", block.wanted)
    return needs[1] if needs and importlib.util.find_spec(MODULES[needs[1]]) is None else ""


def key(name: str) -> str:
    """A token without the digits of the code, which every edit of a service or scenario changes."""
    return re.sub(r"^(rg1\.[0-9a-f]{12})\.[0-9a-f]{8}\.", r"\1.", name)


def produced(block: Block, shell, made: dict[str, str]) -> tuple[str, int]:
    """The block as it comes out now. `made` maps names that the document shows to those of this run.

    A refresh takes the first name made so far for one that the document shows nowhere above.
    """
    lines, code = [], 0
    default = next((name for name in made.values() if REFRESH and name.startswith("rg1.")), "")
    for command in block.commands:
        actual = NAMES.sub(lambda name: made.get(key(name[0]), default or name[0]), command)
        done = shell(actual)
        lines += [f"$ {actual}", *done.stdout.splitlines()]
        code = done.returncode
    text = "\n".join(lines) + "\n"
    names = NAMES.findall(text)
    made.update(zip(map(key, NAMES.findall(block.text)), names, strict=False))
    made.update((key(name), name) for name in names)
    return text, code


@pytest.mark.parametrize("path", WITH_BLOCKS, ids=lambda path: path.stem)
def test_every_command_prints_what_the_document_shows(path, shell):
    text = path.read_text()
    made: dict[str, str] = {}
    changed: list[tuple[Block, str]] = []
    for block in (each for each in blocks(text) if each.kind == "run"):
        if name := missing(block):
            pytest.skip(f"the blocks from here on need {name}, which is not here")
        assert block.commands, f"a block without a command: {block.text}"
        now, code = produced(block, shell, made)
        assert code == block.exit_code, now
        if REFRESH and normal(now) != normal(block.text):
            changed.append((block, now))
        elif not REFRESH:
            assert normal(now) == normal(block.text)
    for block, now in reversed(changed):
        text = text[: block.span[0]] + now + text[block.span[1] :]
    if changed:
        path.write_text(text)


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if "<!-- file" in path.read_text()], ids=lambda p: p.stem)
def test_every_file_shown_is_the_file(path):
    text = path.read_text()
    for block in reversed([each for each in blocks(text) if each.kind == "file"]):
        source = (ROOT / block.wanted).read_text()
        if REFRESH:
            text = text[: block.span[0]] + source + text[block.span[1] :]
            path.write_text(text)
        else:
            assert block.text == source, f"{path.name} shows another {block.wanted}"


def test_refreshing_is_needed_when_an_output_changes():
    shown = "$ racegate replay rg1.0123456789ab.01234567.1-2-3\n1 replay, 1 history: 0123456789ab\n"
    same = shown.replace("0123456789ab", "ba9876543210")
    assert normal(shown) == normal(same)
    assert normal(shown) != normal(shown.replace("1-2-3", "1-2-4"))
    assert normal(shown) != normal(shown.replace("1 history", "2 different histories"))
