"""LiteRT and tflite-runtime: delegates, dynamic shapes, error texts, and damaged models."""

import random
import shutil
import subprocess
import sys

import numpy as np
import pytest
from adapter_cases import adapter_or_skip, builtin, file_model, inputs, opened

from adapters.base import ContractError, DelegateInitError, ModelLoadError, RunError
from adapters.litert.placement import delegate_truth
from adapters.litert.schema import check_model

DELEGATE = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef struct Delegate {
  void* data;
  int (*prepare)(void* context, struct Delegate* self);
  void *copy_from, *copy_to, *free_buffer;
  int64_t flags;
  void* builder;
} Delegate;
static int takes_nothing(void* context, Delegate* self) { return 0; }
static int fails(void* context, Delegate* self) { return 1; }
Delegate* tflite_plugin_create_delegate(char** keys, char** values, size_t count, void (*report)(const char*)) {
  const char* mode = "";
  for (size_t i = 0; i < count; ++i) if (!strcmp(keys[i], "mode")) mode = values[i];
  if (!strcmp(mode, "null")) { if (report) report("secret-text-of-the-vendor"); return NULL; }
  Delegate* made = calloc(1, sizeof(Delegate));
  made->prepare = strcmp(mode, "fails") ? takes_nothing : fails;
  return made;
}
void tflite_plugin_destroy_delegate(Delegate* delegate) { free(delegate); }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler to build the delegate with")
    folder = tmp_path_factory.mktemp("secret-folder")
    (folder / "delegate.c").write_text(DELEGATE)
    target = folder / "libtest_delegate.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", target, folder / "delegate.c"], check=True)
    return target


def builder():
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert, whose schema builds this model, is not installed")
    pytest.importorskip("flatbuffers", reason="flatbuffers, which builds this model, is not installed")
    from harness.models.build_tflite import _Builder

    return _Builder()


def dynamic_model() -> bytes:
    b = builder()
    x, y = b.tensor("x", [1, 3]), b.tensor("y", [1, 3])
    for index in (x, y):
        b._subgraphs[0].tensors[index].shapeSignature = [-1, 3]
    b.op("ADD", [x, b.constant("one", np.ones(1, np.float32))], [y], "AddOptions")
    b.ends([x], [y])
    return b.pack()


def gather_model() -> bytes:
    b = builder()
    x, index, y = b.tensor("x", [4]), b.tensor("index", [1], "INT32"), b.tensor("y", [1])
    b.op("GATHER", [x, index], [y], "GatherOptions")
    b.ends([x, index], [y])
    return b.pack()


def test_builtin_kernels_are_isolated_and_named(interpreter):
    session = interpreter.open(builtin(interpreter, "permutation"), "builtin", {})
    assert (session.delegate.actual, session.delegate.fallback) == ("builtin", False)
    assert [part.on for part in session.delegate.placement] == ["builtin"]
    feeds = inputs(session)
    np.testing.assert_array_equal(session.run(feeds)["y"], opened(interpreter, "permutation").run(feeds)["y"])


def test_xnnpack_counts_the_nodes_it_took(interpreter):
    truth = opened(interpreter, "slow").delegate
    assert {part.on: (part.nodes, part.partitions) for part in truth.placement} == {
        "xnnpack": (1, 1),
        "builtin": (1, 1),
    }


def test_xnnpack_that_takes_no_node_is_a_declared_fallback(interpreter):
    session = interpreter.open(file_model("gather.tflite", gather_model()), "xnnpack", {})
    truth = session.delegate
    assert (truth.requested, truth.actual, truth.fallback, truth.init_error) == ("xnnpack", "builtin", True, None)


def test_dynamic_dimension_is_resized_when_it_changes(interpreter):
    session = interpreter.open(file_model("dynamic.tflite", dynamic_model()), "xnnpack", {})
    assert session.contract.inputs[0].shape == (None, 3)
    for rows in (1, 4, 4, 2):
        x = np.random.default_rng(rows).random((rows, 3), np.float32)
        np.testing.assert_array_equal(session.run({"x": x})["y"], x + np.float32(1))
    with pytest.raises(ContractError):
        session.run({"x": np.zeros((1, 4), np.float32)})


def test_failed_runs_carry_no_text_and_leave_the_session_usable(interpreter):
    session = interpreter.open(file_model("gather.tflite", gather_model()), "builtin", {})
    x = np.arange(4, dtype=np.float32)
    texts = []
    for wrong in (77, 78):
        with pytest.raises(RunError) as caught:
            session.run({"x": x, "index": np.array([wrong], np.int32)})
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert session.counters().last_error == "RunError"
    assert session.run({"x": x, "index": np.array([2], np.int32)})["y"].tolist() == [2.0]


@pytest.mark.parametrize("mode", ["null", "fails"])
def test_external_delegate_that_does_not_start(interpreter, library, mode):
    model, delegate = builtin(interpreter, "permutation"), f"external:{library}"
    with pytest.raises(DelegateInitError) as caught:
        interpreter.open(model, delegate, {"delegate.mode": mode})
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None
    session = interpreter.open(model, delegate, {"delegate.mode": mode, "fallback": True})
    assert (session.delegate.actual, session.delegate.fallback) == ("builtin", True)
    assert session.delegate.init_error in {"ValueError", "RuntimeError"}
    assert session.delegate.requested == "external:libtest_delegate.so"
    session.run(inputs(session))


def test_external_delegate_that_takes_no_node(interpreter, library):
    session = interpreter.open(builtin(interpreter, "permutation"), f"external:{library}", {})
    truth = session.delegate
    assert (truth.actual, truth.fallback, truth.init_error) == ("builtin", True, None)
    session.run(inputs(session))
    session.close()


def test_external_delegate_library_missing_or_of_another_kind(interpreter, tmp_path):
    for path in (tmp_path / "absent.so", "libc.so.6"):
        with pytest.raises(DelegateInitError, match=f"external:{getattr(path, 'name', path)}"):
            interpreter.open(builtin(interpreter, "affine"), f"external:{path}", {})


def test_bad_model_is_not_blamed_on_the_delegate(interpreter, library):
    with pytest.raises(ModelLoadError):
        interpreter.open(file_model("m.tflite", b"no model at all"), f"external:{library}", {})


def test_partition_members_follow_from_the_tensors():
    def node(name, inputs, outputs):
        return {"op_name": name, "inputs": np.array(inputs), "outputs": np.array(outputs)}

    # a -> b -> c -> d, where b and its side effect s are in the delegate, and c takes what b makes
    graph = [
        node("A", [0], [1]),
        node("B", [1, -1], [2]),
        node("S", [2], [9]),
        node("SINK", [9], []),
        node("C", [2], [3]),
        node("D", [3], [4]),
        node("DELEGATE", [1], [2]),
        node("DELEGATE", [3], [4]),
    ]
    truth = delegate_truth(graph, "npu")
    # S uses tensor 2, which leaves the first partition: it may be anybody's, so it is not counted.
    assert {part.on: (part.nodes, part.partitions) for part in truth.placement} == {"npu": (2, 2), "builtin": (4, 2)}
    assert truth.graph_nodes == 6


def test_every_truncation_and_random_bytes_are_refused_in_front_of_native_code():
    data = (pytest.importorskip("harness.models.reference").resolve("builtin:stateful", (".tflite",))).data
    check_model(data)
    for size in range(len(data) - 4):
        with pytest.raises(ModelLoadError):
            check_model(data[:size])
    rng = random.Random(1)
    for size in (0, 1, 8, 100, 5000):
        with pytest.raises(ModelLoadError):
            check_model(rng.randbytes(size))
        with pytest.raises(ModelLoadError):
            check_model(b"\x10\0\0\0TFL3" + rng.randbytes(size))


def test_most_flipped_bits_in_the_tables_are_refused():
    from harness.models.reference import resolve

    data = resolve("builtin:affine", (".tflite",)).data
    accepted = 0
    for bit in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            check_model(bytes(damaged))
        except ModelLoadError:
            continue
        accepted += 1
    assert accepted / (len(data) * 8) < 0.25, "names, versions and weights may change; references may not"


def test_damaged_models_end_in_errors_not_crashes(interpreter):
    """Four flipped bits each: without the check, more than half of them crash tflite-runtime."""
    code = f"""
import random, sys, warnings
from adapters.base import AdapterError, ModelFile
from harness.models.reference import resolve
from harness.models.registry import load_adapter
adapter = load_adapter({interpreter.name!r})
refused = 0
for name in ("affine", "stateful", "permutation"):
    data = resolve(f"builtin:{{name}}", adapter.suffixes).data
    for seed in range(40):
        rng, damaged = random.Random(seed), bytearray(data)
        for _ in range(4):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        try:
            adapter.open(ModelFile(name="m", suffix=".tflite", data=bytes(damaged)), "xnnpack", {{}})
        except AdapterError:
            refused += 1
print(refused)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert int(done.stdout) > 60


def test_tflite_on_a_newer_python_or_numpy_says_what_to_use_instead(monkeypatch):
    from adapters.litert import TFLiteRuntimeAdapter

    monkeypatch.setattr(sys, "version_info", (3, 13, 1))
    found = TFLiteRuntimeAdapter().probe()
    assert not found.importable
    assert "3.13" in found.why_not
    assert "litert" in found.install
    monkeypatch.setattr(sys, "version_info", (3, 11, 7))
    monkeypatch.setattr(np, "__version__", "2.3.0")
    assert "numpy below 2" in TFLiteRuntimeAdapter().probe().why_not


def test_a_tensor_name_that_is_no_text_is_a_model_that_does_not_load():
    litert = adapter_or_skip("litert")  # tflite-runtime takes such a name as it is
    model = builtin(litert, "permutation")
    at = model.data.index(b"x\0")
    damaged = file_model(model.name, model.data[:at] + b"\xef" + model.data[at + 1 :])
    with pytest.raises(ModelLoadError):
        litert.open(damaged, litert.cpu_delegate, {})
