"""How far a failure says that it reaches."""

from types import SimpleNamespace

import pytest

from adapters import base
from adapters.base import AdapterError, RunError, Scope, scope_of
from harness.faults.fault import Scope as FaultScope
from harness.models.reference import resolve
from harness.models.registry import load_adapter


def test_every_error_has_a_scope_of_its_class_or_its_own():
    assert scope_of(RunError("x")) is Scope.REQUEST
    assert scope_of(base.ModelLoadError("x")) is Scope.CONTEXT
    assert scope_of(base.UnavailableError("x")) is Scope.PROCESS
    assert scope_of(RunError("x", scope=Scope.DEVICE)) is Scope.DEVICE
    assert scope_of(KeyError("x")) is None
    assert RunError.scope is Scope.REQUEST, "one error's scope is not its class's"


def test_what_a_fault_injects_says_it_in_the_same_words():
    error = RunError("x")
    vars(error)["scope"] = FaultScope.CONTEXT.value
    assert FaultScope is Scope
    assert scope_of(error) is Scope.CONTEXT


def test_code_and_dump_are_there_where_the_driver_gives_them():
    assert (RunError("x").code, RunError("x").dump) == (None, None)
    error = AdapterError("gone", code=700, dump="core-17")
    assert (str(error), error.code, error.dump) == ("gone", 700, "core-17")


class EPFail(Exception):  # noqa: N818 - as ONNX Runtime names it
    """What ONNX Runtime raises where the execution provider itself failed."""


class Fail(Exception):  # noqa: N818 - as ONNX Runtime names it
    """What it raises for any other failure."""


@pytest.mark.parametrize(("raised", "scope"), [(EPFail, Scope.CONTEXT), (Fail, Scope.REQUEST)])
def test_a_failed_execution_provider_takes_its_session_with_it(raised, scope):
    adapter = load_adapter("onnxruntime")
    if not adapter.probe().importable:
        pytest.skip(adapter.probe().why_not)
    session = adapter.open(resolve("builtin:affine", adapter.suffixes), adapter.default_delegate, {})
    try:
        error = session.failure(SimpleNamespace(terminate=False), raised("a text with a payload"))
    finally:
        session.close()
    assert (scope_of(error), error.code) == (scope, raised.__name__)
    assert "payload" not in str(error)
