"""The example adapter passes the conformance checks that ours pass, as far as its made-up runtime goes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from adapters.base import OptionError
from harness.models.registry import load_adapter

ROOT = Path(__file__).parents[2]
EXAMPLE = f"{ROOT / 'docs' / 'examples' / 'tiny_adapter.py'}:TinyAdapter"
CASES = ROOT / "tests" / "unit" / "adapters"
CHECKS = (
    "test_probe_finds_the_runtime",
    "test_permutation_is_exact",
    "test_affine_is_exact",
    "test_constant_cannot_tell_inputs_apart",
    "test_stateful_hides_a_state_that_a_fresh_session_lacks",
    "test_outputs_are_owned",
    "test_input_overwritten_after_bind_changes_nothing",
    "test_two_calls_interleaved_on_a_session_with_buffers_of_its_own_mix_up",
    "test_staged_methods_are_there_exactly_on_exclusive_sessions",
    "test_every_interleaving_of_three_staged_calls_survives",
    "test_closed_session_refuses_every_step",
    "test_absent_delegate_strict_and_falling_back",
)


def loaded(name: str):
    spec = importlib.util.spec_from_file_location(name, CASES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def conformance():
    before = sys.modules.get("adapter_cases")
    sys.modules["adapter_cases"] = loaded("adapter_cases")
    yield loaded("test_every_adapter")
    if before is None:
        del sys.modules["adapter_cases"]
    else:
        sys.modules["adapter_cases"] = before


@pytest.mark.parametrize("name", CHECKS)
def test_the_example_passes(conformance, name):
    getattr(conformance, name)(load_adapter(EXAMPLE))


def test_malformed_input_and_unknown_options_are_refused(conformance, monkeypatch):
    for name in conformance.BROKEN:
        conformance.test_malformed_input_never_reaches_the_runtime(load_adapter(EXAMPLE), name, monkeypatch)
    with pytest.raises(OptionError, match="unknown option"):
        load_adapter(EXAMPLE).open(conformance.builtin(load_adapter(EXAMPLE), "affine"), "cpu", {"fallbak": True})
