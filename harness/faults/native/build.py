"""Builds the native fault libraries with the system's C compiler, once for each source, compiler and set of flags.

`python -m harness.faults.native` (`make native`) builds them now; tests and users build them on first use. They
are kept in `native` in the cache folder (`harness.cache`), beside the models.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.cache import cache_folder

__all__ = ["LIBRARIES", "NativeUnavailableError", "build", "main", "native_availability"]

_SOURCES = Path(__file__).parent
LIBRARIES = {"tflite": ("faults.c", "tflite_delegate.c"), "onnxruntime": ("faults.c", "ort_operator.c")}
"""The sources of each library, by the runtime family that loads it."""

_COMPILERS = ("cc", "gcc", "clang")
# No contraction of a * b + c: it would round otherwise than the runtimes' own kernels.
_FLAGS = ("-std=c11", "-O1", "-g", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-ffp-contract=off")
_FLAGS_LAST = ("-Wl,-Bsymbolic", "-ldl", "-lm")
_BUILD_SECONDS = 120


class NativeUnavailableError(RuntimeError):
    """The native fault libraries cannot be built here. The text says why, in one line."""


def native_availability() -> tuple[bool, str]:
    """Whether the libraries can be had here, and if not, why. Builds them where they were not built yet."""
    try:
        for name in LIBRARIES:
            build(name)
    except NativeUnavailableError as error:
        return False, str(error)
    return True, ""


def build(name: str) -> Path:
    """Return the library of that name, built if need be. Raises NativeUnavailableError.

    Processes and threads may build the same library at once: each writes a file of its own and moves it into place.
    """
    if sys.platform != "linux" or sys.maxsize < 2**32:
        message = "the native fault libraries are written for 64-bit Linux"
        raise NativeUnavailableError(message)
    compiler = _compiler()
    folder = cache_folder() / "native" / _key(name, compiler)
    library = folder / f"libracegate_{name}_faults.so"
    if not library.is_file():
        try:
            _compile(name, compiler, library)
        except OSError as error:
            problem = error.strerror or type(error).__name__
        else:
            return library
        message = f"the native fault libraries cannot be stored in the cache folder: {problem}"
        raise NativeUnavailableError(message)
    return library


def main() -> int:
    """Build both libraries and print where they are, or why there are none. Exit 1 where there are none."""
    available, reason = native_availability()
    if not available:
        sys.stderr.write(f"available: no, because {reason}\n")
        return 1
    for name in LIBRARIES:
        sys.stdout.write(f"{build(name)}\n")
    return 0


def _compiler() -> tuple[str, ...]:
    """The command of `$CC`, else the first compiler that is there."""
    wanted = shlex.split(os.environ.get("CC", ""))
    if wanted and (found := shutil.which(wanted[0])):
        return (found, *wanted[1:])
    if wanted:
        message = f"there is no C compiler {wanted[0]!r}, which CC names"
        raise NativeUnavailableError(message)
    for candidate in _COMPILERS:
        if found := shutil.which(candidate):
            return (found,)
    message = f"there is no C compiler ({', '.join(_COMPILERS)}, or what CC names)"
    raise NativeUnavailableError(message)


def _key(name: str, compiler: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    parts = [platform.machine(), *compiler, _version_of(compiler), *_FLAGS, *_FLAGS_LAST]
    for part in [*map(str.encode, parts), *(file.read_bytes() for file in _inputs(name))]:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:16]


def _inputs(name: str) -> list[Path]:
    return [*(_SOURCES / file for file in LIBRARIES[name]), *sorted(_SOURCES.glob("*.h"))]


@functools.cache
def _version_of(compiler: tuple[str, ...]) -> str:
    done = _run((*compiler, "--version"))
    return done.stdout if done.returncode == 0 else ""


def _compile(name: str, compiler: tuple[str, ...], library: Path) -> None:
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        made = Path(scratch) / library.name
        sources = [str(_SOURCES / file) for file in LIBRARIES[name]]
        done = _run((*compiler, *_FLAGS, "-o", str(made), *sources, *_FLAGS_LAST))
        if done.returncode != 0 or not made.is_file():
            lines = [line for line in done.stderr.splitlines() if "error" in line] or ["it said nothing"]
            message = f"the C compiler {Path(compiler[0]).name} fails: {lines[0].replace(f'{_SOURCES}{os.sep}', '')}"
            raise NativeUnavailableError(message)
        made.replace(library)


def _run(command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    problem = ""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_BUILD_SECONDS)  # noqa: S603 - the compiler that the user has
    except subprocess.TimeoutExpired:
        problem = f"takes more than {_BUILD_SECONDS} seconds"
    except OSError as error:
        problem = f"does not start: {error.strerror}"
    message = f"the C compiler {Path(command[0]).name} {problem}"
    raise NativeUnavailableError(message)
