"""Building the native fault libraries: what is available, and what is said where it is not."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import harness.faults.native
from harness.faults.native import NativeUnavailableError, native_availability
from harness.faults.native.build import LIBRARIES, build, main

SOURCES = Path(harness.faults.native.__file__).parent
HAS_COMPILER = sys.platform == "linux" and any(map(shutil.which, ("cc", "gcc", "clang")))
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler on this Linux, or no Linux")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RACEGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "cache"


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@needs_compiler
def test_both_libraries_are_built_once_and_kept(cache):
    assert native_availability() == (True, "")
    libraries = [build(name) for name in LIBRARIES]
    stamps = [library.stat().st_mtime_ns for library in libraries]
    assert sorted(cache.rglob("*.so")) == sorted(libraries)
    assert [build(name).stat().st_mtime_ns for name in LIBRARIES] == stamps
    assert sorted(file for file in cache.rglob("*") if file.is_file()) == sorted(libraries)


@needs_compiler
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_sources_compile_without_a_warning(name, tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-pthread", "-Wall", "-Wextra", "-Werror"]
    sources = [SOURCES / file for file in LIBRARIES[name]]
    command = [compiler, *flags, "-o", tmp_path / "x.so", *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@needs_compiler
def test_another_source_or_compiler_makes_another_library(tmp_path, monkeypatch):
    module = sys.modules["harness.faults.native.build"]
    first = build("tflite")
    wrapper = script(tmp_path / "other-cc", f'exec {shutil.which("cc") or shutil.which("gcc")} "$@"')
    monkeypatch.setenv("CC", wrapper)
    second = build("tflite")
    copy = tmp_path / "sources"
    shutil.copytree(SOURCES, copy)
    (copy / "faults.h").write_text((SOURCES / "faults.h").read_text() + "\n")
    monkeypatch.setattr(module, "_SOURCES", copy)
    third = build("tflite")
    assert len({first, second, third}) == 3


@needs_compiler
def test_many_builders_at_once_get_one_whole_library(cache):
    paths, errors = [], []

    def one():
        try:
            paths.append(build("tflite"))
        except NativeUnavailableError as error:
            errors.append(error)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(set(paths)), len(paths), errors) == (1, 4, [])
    assert list(cache.rglob("*.so")) == paths[:1]


@pytest.mark.skipif(sys.platform != "linux", reason="another system has a reason of its own")
def test_no_compiler_is_said_and_not_raised(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert native_availability() == (False, "there is no C compiler (cc, gcc, clang, or what CC names)")
    assert main() == 1
    assert capsys.readouterr().err.startswith("available: no, because there is no C compiler")


@pytest.mark.skipif(sys.platform != "linux", reason="another system has a reason of its own")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('echo "x.c:1: error: it does not please me" >&2; exit 1', "fails: x.c:1: error: it does not please me"),
        ("exit 0", "fails: it said nothing"),
    ],
)
def test_a_compiler_that_fails(monkeypatch, tmp_path, text, says):
    monkeypatch.setenv("CC", script(tmp_path / "bad-cc", text))
    available, reason = native_availability()
    assert not available
    assert reason == f"the C compiler bad-cc {says}"


@pytest.mark.skipif(sys.platform != "linux", reason="another system has a reason of its own")
def test_a_compiler_that_is_named_and_not_there(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -O3")
    assert native_availability() == (False, "there is no C compiler 'no-such-compiler', which CC names")


@needs_compiler
def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RACEGATE_CACHE", str(tmp_path / "file"))
    available, reason = native_availability()
    assert (available, reason) == (
        False,
        "the native fault libraries cannot be stored in the cache folder: Not a directory",
    )


def test_another_system_is_said(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert native_availability() == (False, "the native fault libraries are written for 64-bit Linux")


@needs_compiler
def test_the_module_builds_and_prints_where(cache):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "harness.faults.native"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(SOURCES.parents[2])},
    )
    assert sorted(map(Path, done.stdout.split())) == sorted(cache.rglob("*.so"))


def test_the_sources_are_there_where_the_package_is_installed():
    names = {file for files in LIBRARIES.values() for file in files} | {"faults.h", "tflite_abi.h", "ort_abi.h"}
    assert {file.name for file in SOURCES.iterdir() if file.suffix in {".c", ".h"}} == names


def test_the_public_names_are_pinned():
    assert sorted(harness.faults.native.__all__) == [
        "Kind",
        "NativeCounters",
        "NativeFaults",
        "NativeUnavailableError",
        "Point",
        "UnverifiedRuntimeError",
        "native_availability",
    ]
