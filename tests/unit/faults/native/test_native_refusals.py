"""What is refused: a runtime that was not measured, an option or a fault that does not exist."""

import importlib
import importlib.metadata

import pytest
from native_cases import answer, truth

from adapters.base import DelegateInitError, OptionError
from harness.faults.native import NativeFaults, UnverifiedRuntimeError

pytestmark = pytest.mark.runtime


def load(delegate, **options):
    package = {"litert": "ai_edge_litert", "tflite": "tflite_runtime"}[delegate.name]
    runtime = importlib.import_module(f"{package}.interpreter")
    return runtime.load_delegate(str(delegate.faults.path), options)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "not verified in a runtime without a name; verified are tflite-runtime 2.14.0 and ai-edge-litert 2.3.0"),
        ({"runtime": "ai-edge-litert 9.9.9"}, "not verified in ai-edge-litert 9.9.9"),
        ({"runtime": "ai-edge-litert 2.3.0", "knid": "fail"}, "no option is called knid"),
        ({"runtime": "ai-edge-litert 2.3.0", "kind": "explode"}, "cannot arm that: no such kind of fault"),
    ],
)
def test_the_delegate_refuses_by_itself_and_says_why(delegate, options, says):
    with pytest.raises(ValueError, match=says):
        load(delegate, **options)
    counters = delegate.faults.counters()
    assert (counters.refusals, counters.creates, counters.live_delegates) == (1, 0, 0)


def test_an_unverified_version_is_refused_before_anything_is_loaded(delegate, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "3.0.0")
    with pytest.raises(UnverifiedRuntimeError, match=r"is not verified with .* 3\.0\.0: it is with tflite-runtime 2"):
        delegate.faults.options(delegate.name)


def test_the_adapter_does_not_start_an_unverified_delegate(delegate):
    with pytest.raises(DelegateInitError, match="did not start"):
        delegate.adapter.open(delegate.model, delegate.faults.delegate, {})
    assert delegate.faults.counters().refusals == 1


def test_the_installed_runtimes_are_the_verified_ones(delegate):
    runtime = delegate.faults.options(delegate.name)["delegate.runtime"]
    assert runtime in delegate.faults.verified
    assert runtime.endswith(delegate.adapter.probe().version)


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("explode", {}, "no such kind"),
        ("fail", {"point": "nowhere"}, "no such point"),
        ("fail", {"point": "destroy"}, "cannot fail"),
        ("wrong", {"point": "create"}, "only invoke has an output"),
        ("nan", {"point": "destroy"}, "only invoke has an output"),
        ("fail", {"nth": 0}, "nth is at least 1"),
        ("fail", {"times": 0}, "at least once"),
        ("fail", {"times": -1}, "nth is at least 1, times at least 0"),
        ("slow", {"seconds": -1.0}, "seconds are between"),
        ("slow", {"seconds": float("nan")}, "seconds are between"),
    ],
)
def test_what_cannot_be_armed(native, kind, options, says):
    with pytest.raises(ValueError, match=says):
        native.faults.arm(kind, **options)


def test_too_many_faults_at_once(native):
    session = native.open()
    for _ in range(64):
        native.faults.arm("slow", seconds=0.0)
    with pytest.raises(ValueError, match="too many"):
        native.faults.arm("slow", seconds=0.0)
    assert answer(session, 1) == truth(1)  # all strike, are over, and make room
    native.faults.arm("fail")


def test_operators_that_do_not_register_are_named_without_their_folder(operator, tmp_path):
    for library in (tmp_path / "secret" / "absent.so", tmp_path / "text.so"):
        if library.parent == tmp_path:
            library.write_text("no library")
        with pytest.raises(DelegateInitError, match=rf"operators of {library.name} did not register") as caught:
            operator.open(custom_ops=str(library))
        assert str(tmp_path) not in str(caught.value)
        assert caught.value.__context__ is None


def test_custom_ops_is_a_string(operator):
    with pytest.raises(OptionError, match="'custom_ops' must be a string"):
        operator.open(custom_ops=1)


def test_a_model_with_the_operator_does_not_load_without_the_library(operator):
    from adapters.base import ModelLoadError

    with pytest.raises(ModelLoadError):
        operator.adapter.open(operator.model, operator.adapter.default_delegate, {})


def test_handles_share_the_librarys_state(native):
    other = NativeFaults(native.faults.path)
    other.arm("wrong")
    assert answer(native.open(), 1) != truth(1)
