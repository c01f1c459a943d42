"""Compiles the engine's core when a wheel is made and RACEGATE_COMPILED=1 is set: mypyc and the system's C compiler.

    RACEGATE_COMPILED=1 pip install .

The compiled core is the same Python sources, and decides the same; an exploration takes about two thirds of the time.
It is built in a folder of its own, never beside the sources: there it would be imported in their place, however old.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WANTED = os.environ.get("RACEGATE_COMPILED", "") not in {"", "0"}
CORE = (
    "carriers/greenlets", "carriers/os_thread", "causality", "instrument/callees", "instrument/contents",
    "instrument/owners", "instrument/runtime", "kernel", "native_calls", "primitives/lock", "primitives/rlock",
    "scheduler", "strategies/deviations", "strategies/exhaustive", "strategies/pct", "strategies/portfolio",
    "strategies/pos", "strategies/priorities", "strategies/random_walk", "strategies/replay", "strategies/scripted",
    "strategies/segments", "threads",
)  # fmt: skip
"""What an execution spends its time in, but for what needs frames or is bound as a method of a class."""
MANIFEST = "harness/engine/compiled.json"
"""In the wheel: the digest of each source that was compiled. `harness.engine.compiling` checks it."""
_SETUP = """\
import sys

from mypyc.build import mypycify
from setuptools import setup

arguments = ["--ignore-missing-imports", "--follow-imports=silent", *sys.argv[1:]]
modules = mypycify(arguments, group_name="racegate", opt_level="3", debug_level="0")
setup(name="racegate", packages=[], ext_modules=modules, script_args=["build_ext", "--inplace"])
"""


class CompiledCore(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel."""

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """What compiling needs, beside a C compiler."""
        return ["mypy>=2", "setuptools>=65"] if WANTED else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add what came of it. Raises RuntimeError where that is not possible."""
        if not WANTED or self.target_name != "wheel":
            return
        if version == "editable":
            message = "an editable install runs the sources: it cannot have a compiled core (RACEGATE_COMPILED)"
            raise RuntimeError(message)
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        shutil.copytree(Path(self.root) / "harness", folder / "harness", ignore=shutil.ignore_patterns("__pycache__"))
        sources = [f"harness/engine/{name}.py" for name in CORE]
        try:
            libraries = _compile(folder, sources)
        except RuntimeError:
            self._folder.cleanup()
            raise
        digests = {source: hashlib.sha256((folder / source).read_bytes()).hexdigest() for source in sources}
        (folder / MANIFEST).write_text(json.dumps(digests, indent=1) + "\n")
        made = [MANIFEST, *(str(file.relative_to(folder)) for file in libraries)]
        build_data["force_include"].update({str(folder / file): file for file in made})
        build_data.update(pure_python=False, infer_tag=True)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder."""
        del version, build_data, artifact_path
        if self._folder is not None:
            self._folder.cleanup()


def _compile(folder: Path, sources: list[str]) -> list[Path]:
    """The compiled modules, and beside them the one that holds the code of all."""
    setup = folder / "compile_core.py"
    setup.write_text(_SETUP)
    said = subprocess.run(  # noqa: S603 - our own file
        [sys.executable, str(setup), *sources],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    made = [file for file in folder.rglob("*") if file.suffix in {".so", ".pyd"} and "build" not in file.parts]
    if said.returncode != 0 or len(made) != len(sources) + 1:
        message = f"the engine's core does not compile:\n{said.stdout[-4000:]}{said.stderr[-4000:]}"
        raise RuntimeError(message)
    return made
