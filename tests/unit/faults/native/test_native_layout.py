"""The layout check of the delegate: declared otherwise than the runtime's, it refuses and does not crash."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from native_cases import child, skip_unless_there

import harness.faults.native
from harness.faults.native.build import build

pytestmark = pytest.mark.runtime

SOURCES = Path(harness.faults.native.__file__).parent
BODY = """
from adapters.base import DelegateInitError
try:
    session = case.open()
except DelegateInitError as error:
    print("refused", case.faults.counters().refusals)
else:
    print(answer(session, 1) == truth(1), "fallback", session.delegate.fallback)
print(case.live()["live_delegates"], case.live()["live_kernels"])
"""
DAMAGE = {
    "a tensor has a field more": (
        "  IntArray* dims;\n  struct {\n    float",
        "  void* more;\n  IntArray* dims;\n  struct {\n    float",
    ),
    "a tensor has a field more at its end": (
        "  const IntArray* dims_signature;\n",
        "  const IntArray* dims_signature;\n  void* more;\n",
    ),
    "a tensor has a field less": ("  void* sparsity;\n", ""),
    "a context has a field more": ("  size_t tensors_size;\n", "  size_t tensors_size;\n  void* more;\n"),
    "a context has a field less": ("  void* impl;\n", "  void* impl[0];\n"),
    "a context has a function more": ("  int (*add_tensors)", "  int (*more)(void);\n  int (*add_tensors)"),
    "a node has a field more": (
        "typedef struct {\n  IntArray* inputs;\n",
        "typedef struct {\n  void* more;\n  IntArray* inputs;\n",
    ),
}


def run_with(name, tmp_path, monkeypatch, old, new):
    """Build the delegate from sources in which `old` is `new`, and open a session in a process of its own."""
    skip_unless_there(name)
    copy = tmp_path / "sources"
    shutil.copytree(SOURCES, copy)
    header = copy / "tflite_abi.h"
    text = header.read_text()
    assert old in text
    header.write_text(text.replace(old, new).replace("sizeof(Tensor) == 112", "sizeof(Tensor) > 0"))
    with monkeypatch.context() as patch:
        patch.setenv("RACEGATE_CACHE", str(tmp_path / "cache"))
        patch.setattr(sys.modules["harness.faults.native.build"], "_SOURCES", copy)
        library = build("tflite")
    body = f"""
from pathlib import Path
from harness.faults.native import NativeFaults
case.faults = NativeFaults(Path({str(library)!r}))
{BODY}"""
    return subprocess.run(child(name, body), capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["litert", "tflite"])
def test_another_layout_is_refused(name, damage, tmp_path, monkeypatch):
    done = run_with(name, tmp_path, monkeypatch, *DAMAGE[damage])
    assert (done.returncode, done.stdout) == (0, "refused 1\n0 0\n"), done.stderr


@pytest.mark.parametrize("name", ["litert", "tflite"])
def test_the_declared_layout_is_not(name, tmp_path, monkeypatch):
    done = run_with(name, tmp_path, monkeypatch, "#endif\n", "#endif\n\n")
    assert (done.returncode, done.stdout) == (0, "True fallback False\n1 1\n"), done.stderr
