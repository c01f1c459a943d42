"""What every adapter owes: contract first, owned outputs, private inputs, honest sharing, clean closing."""

import importlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from adapter_cases import builtin, inputs, opened

from adapters.base import (
    Availability,
    ContractError,
    DelegateInitError,
    Grain,
    OptionError,
    RunError,
    RunInterruptedError,
    SessionClosedError,
    Sharing,
)

X = np.arange(16, dtype=np.float32).reshape(1, 16)
BROKEN = {
    "wrong dtype": {"x": X.astype(np.float64)},
    "big-endian": {"x": X.astype(">f4")},
    "wrong rank": {"x": X[0]},
    "wrong dimension": {"x": X[:, :15].copy()},
    "longer": {"x": np.zeros((1, 17), np.float32)},
    "missing": {},
    "extra": {"x": X, "more": X},
    "wrong name": {"y": X},
    "a list": {"x": X.tolist()},
}


def test_probe_finds_the_runtime(adapter):
    found = adapter.probe()
    assert found.importable
    assert found.version
    assert found.build
    assert adapter.default_delegate in found.delegates


def test_the_next_version_of_the_permutation_is_another(adapter):
    session = opened(adapter, "permutation-2")
    np.testing.assert_array_equal(session.run({"x": X})["y"], X[:, [(3 * j + 6) % 16 for j in range(16)]])


def test_permutation_is_exact(adapter):
    session = opened(adapter, "permutation")
    expected = X[:, [(5 * j + 3) % 16 for j in range(16)]]
    np.testing.assert_array_equal(session.run({"x": X})["y"], expected)


def test_affine_is_exact(adapter):
    session = opened(adapter, "affine")
    feeds = inputs(session)
    np.testing.assert_array_equal(session.run(feeds)["y"], feeds["x"] * np.float32(2) + np.float32(1))


def test_slow_with_few_rounds_is_exact(adapter):
    session = opened(adapter, "slow")
    feeds = inputs(session, n=2)
    expected = feeds["x"]
    for _ in range(2):
        expected = expected[:, [(29 * j + 7) % 64 for j in range(64)]]
    np.testing.assert_array_equal(session.run(feeds)["y"], expected)


def test_constant_cannot_tell_inputs_apart(adapter):
    session = opened(adapter, "constant")
    assert session.run(inputs(session, 1))["y"].tobytes() == session.run(inputs(session, 2))["y"].tobytes()


def test_stateful_hides_a_state_that_a_fresh_session_lacks(adapter):
    session = opened(adapter, "stateful")
    a, b = inputs(session, 1), inputs(session, 2)
    session.run(a)
    b_after_a = session.run(b)["y"]
    b_alone = opened(adapter, "stateful").run(b)["y"]
    assert not np.array_equal(b_after_a, b_alone)
    np.testing.assert_array_equal(opened(adapter, "stateful").run(b)["y"], b_alone)


@pytest.mark.parametrize("name", BROKEN)
def test_malformed_input_never_reaches_the_runtime(adapter, name, monkeypatch):
    session = opened(adapter, "permutation")
    session.run({"x": X})
    for native in ("_native", "_interpreter", "_kernel"):
        if hasattr(session, native):
            monkeypatch.setattr(session, native, object())  # any use of it is an AttributeError or TypeError
    with pytest.raises(ContractError):
        session.run(BROKEN[name])


@pytest.mark.parametrize("view", ["strided", "fortran", "read-only"])
def test_any_memory_layout_is_read_right(adapter, view):
    session = opened(adapter, "slow")
    feeds = inputs(session, n=1)
    expected = session.run(feeds)["y"]
    x = feeds["x"]
    if view == "strided":
        x = np.repeat(x, 2, axis=1)[:, ::2]
    elif view == "fortran":
        x = np.asfortranarray(x)
    else:
        x.flags.writeable = False
    np.testing.assert_array_equal(session.run({**feeds, "x": x})["y"], expected)


def test_outputs_are_owned(adapter):
    session = opened(adapter, "permutation")
    first = session.run({"x": X})["y"]
    before = first.copy()
    second = session.run({"x": X + 100})["y"]
    assert first.flags.writeable
    np.testing.assert_array_equal(first, before)
    second[...] = -1
    np.testing.assert_array_equal(session.run({"x": X})["y"], before)


def test_input_overwritten_after_bind_changes_nothing(adapter):
    session = opened(adapter, "permutation")
    x = X.copy()
    call = session.call({"x": x})
    call.bind()
    x[...] = -5
    call.invoke()
    np.testing.assert_array_equal(call.fetch()["y"], session.run({"x": X})["y"])


def test_two_calls_interleaved_on_a_session_with_buffers_of_its_own_mix_up(adapter):
    session = opened(adapter, "permutation", **adapter.shared_state_options)
    assert session.sharing is Sharing.EXCLUSIVE
    right = session.run({"x": X})["y"]
    first, second = session.call({"x": X}), session.call({"x": X + 1})
    first.bind()
    second.bind()
    first.invoke()
    wrong = first.fetch()["y"]
    second.invoke()
    np.testing.assert_array_equal(second.fetch()["y"], wrong)
    assert not np.array_equal(wrong, right), "a shared session must give one task the other's answer"


def test_staged_methods_are_there_exactly_on_exclusive_sessions(adapter):
    for options in ({}, adapter.shared_state_options):
        session = opened(adapter, "permutation", **options)
        staged = all(hasattr(session, step) for step in ("bind", "invoke", "fetch"))
        assert staged == (session.sharing is Sharing.EXCLUSIVE)


def test_every_interleaving_of_three_staged_calls_survives(adapter):
    session = opened(adapter, "permutation", **adapter.shared_state_options)
    answers = {session.run({"x": X + k})["y"].tobytes() for k in range(3)}
    rng = np.random.default_rng(5)
    for _ in range(50):
        calls = [session.call({"x": X + k}) for k in range(3)]
        steps = rng.permutation(np.repeat(np.arange(3), 3))
        progress = [0, 0, 0]
        for k in steps:
            step = (calls[k].bind, calls[k].invoke, calls[k].fetch)[progress[k]]
            progress[k] += 1
            if (done := step()) is not None:
                assert done["y"].tobytes() in answers


def rows(count, seed=0):
    return {"x": np.random.default_rng([seed, count]).random((count, 16), np.float32)}


def rows_answer(feeds):
    return feeds["x"][:, [(5 * j + 3) % 16 for j in range(16)]] + np.float32(len(feeds["x"]))


@pytest.mark.parametrize("options", [{}, "shared"])
def test_shapes_change_from_run_to_run(adapter, options):
    session = opened(adapter, "rows", **(adapter.shared_state_options if options else {}))
    for count in (1, 3, 1, 2, 11, 3, *range(1, 12)):
        feeds = rows(count)
        np.testing.assert_array_equal(session.run(feeds)["y"], rows_answer(feeds))


@pytest.mark.parametrize("options", [{}, "shared"])
def test_a_resize_plans_ahead_and_is_checked(adapter, options):
    session = opened(adapter, "rows", **(adapter.shared_state_options if options else {}))
    session.resize({"x": (3, 16)})
    for count in (3, 1):
        feeds = rows(count)
        np.testing.assert_array_equal(session.run(feeds)["y"], rows_answer(feeds))
    for wrong in ({"x": (3, 15)}, {"x": (3,)}, {}, {"x": (3, 16), "z": (1,)}):
        with pytest.raises(ContractError):
            session.resize(wrong)
    feeds = rows(1, seed=2)
    np.testing.assert_array_equal(session.run(feeds)["y"], rows_answer(feeds))


def test_a_resize_in_the_middle_of_a_call_changes_what_it_gives_and_nothing_worse(adapter):
    session = opened(adapter, "rows", **adapter.shared_state_options)
    feeds = rows(1)
    call = session.call(feeds)
    call.bind()
    session.resize({"x": (3, 16)})
    call.invoke()
    torn = call.fetch()["y"]
    assert torn.shape != (1, 16)
    assert not np.array_equal(torn[:1], rows_answer(feeds)), "the shape is part of the answer"
    np.testing.assert_array_equal(session.run(feeds)["y"], rows_answer(feeds))


@pytest.mark.parametrize("options", [{}, "shared"])
def test_interrupt_ends_a_run_and_poisons_no_later_one(adapter, options):
    session = opened(adapter, "slow", **(adapter.shared_state_options if options else {}))
    if session.interrupt_grain is Grain.NONE:
        with pytest.raises(RunError):
            session.interrupt()
        return
    expected = session.run(inputs(session, n=2))["y"]
    timer = threading.Timer(0.1, session.interrupt)
    timer.start()
    started = time.monotonic()
    with pytest.raises(RunInterruptedError):
        session.run(inputs(session, n=100_000_000))
    assert time.monotonic() - started < 10
    timer.join()
    assert session.counters().last_error == "RunInterruptedError"
    np.testing.assert_array_equal(session.run(inputs(session, n=2))["y"], expected)


def test_interrupt_between_bind_and_invoke_is_not_lost(adapter):
    session = opened(adapter, "slow")
    if session.interrupt_grain is Grain.NONE:
        return
    call = session.call(inputs(session, n=100_000_000))
    call.bind()
    session.interrupt()
    with pytest.raises(RunInterruptedError):
        call.invoke()
    session.interrupt()  # with no call in flight it does nothing
    session.run(inputs(session, n=1))


def test_closed_session_refuses_every_step(adapter):
    for options in ({}, adapter.shared_state_options):
        session = opened(adapter, "permutation", **options)
        assert session.counters().live_contexts == 1
        call = session.call({"x": X})
        session.close()
        session.close()
        for step in (call.bind, call.invoke, call.fetch):
            with pytest.raises(SessionClosedError):
                step()
        counters = session.counters()
        assert (counters.live_contexts, counters.registered_buffers, counters.live_delegates) == (0, 0, 0)


def test_truth_about_the_default_delegate(adapter):
    for name in ("affine", "permutation", "slow", "stateful", "constant"):
        truth = opened(adapter, name).delegate
        assert truth.requested == truth.actual == adapter.default_delegate
        assert not truth.fallback
        assert sum(part.nodes for part in truth.placement) == truth.graph_nodes > 0
        assert truth.evidence not in {"", "unknown"}


def test_identity_names_the_native_library_and_no_folder(adapter):
    identity = opened(adapter, "affine").identity
    assert identity.version == adapter.probe().version
    assert identity.artifacts
    for name, digest in identity.artifacts.items():
        assert "/" not in name
        assert len(digest) == 64


def test_absent_delegate_strict_and_falling_back(adapter):
    model = builtin(adapter, "permutation")
    with pytest.raises(DelegateInitError, match="NoSuchDelegate"):
        adapter.open(model, "NoSuchDelegate", {})
    session = adapter.open(model, "NoSuchDelegate", {"fallback": True})
    truth = session.delegate
    assert truth.fallback
    assert truth.init_error
    assert (truth.requested, truth.actual) == ("NoSuchDelegate", adapter.cpu_delegate)
    assert session.run({"x": X})["y"].shape == (1, 16)


@pytest.mark.parametrize(
    ("options", "says"), [({"fallbak": True}, "unknown option 'fallbak'"), ({"fallback": 1}, "true or false")]
)
def test_wrong_options_are_refused(adapter, options, says):
    with pytest.raises(OptionError, match=says):
        adapter.open(builtin(adapter, "affine"), adapter.default_delegate, options)


def test_importing_adapters_imports_no_runtime():
    code = (
        "import sys, adapters.numpy_reference, adapters.onnxruntime, adapters.litert\n"
        "print([m for m in ('onnxruntime', 'ai_edge_litert', 'tflite_runtime') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_probe_of_a_missing_runtime_says_what_to_install(adapter, monkeypatch):
    if adapter.name == "numpy":
        return

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    found = adapter.probe()
    assert isinstance(found, Availability)
    assert not found.importable
    assert "not installed" in found.why_not
    assert "pip install" in found.install
    assert "\n" not in found.why_not + found.install
