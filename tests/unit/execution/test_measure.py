"""What is measured beside the executions: copies at the hand-over, and memory."""

from __future__ import annotations

import pytest

from adapters.base import AdapterError
from harness.execution.measure import measure
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.suite.plan import ServiceSpec, TargetSpec

STATEMENTS = {"no explicit copy", "explicit copy", "undecided"}
SERVICES = '''

class Passing:
    """Hands the caller's own array on."""

    def __init__(self, open_session, config):
        self.session = open_session()

    def submit(self, inputs):
        from concurrent.futures import Future
        future = Future()
        future.set_result(self.session.run(inputs))
        return future

    def close(self):
        self.session.close()

def broken(open_session, config):
    raise RuntimeError("no")
'''


def measured(service, model="builtin:permutation", slots=1):
    adapter = load_adapter("numpy")
    target = TargetSpec(name="numpy", adapter="numpy", model=model)
    return measure(target, ServiceSpec(service, slots=slots), resolve(model, adapter.suffixes))


def test_the_queue_copies_what_is_submitted_and_not_what_is_lent():
    submitted, lent = measured("queue").copies
    assert (submitted.how, submitted.same_handle) == ("submit", False)
    assert submitted.statement in {"explicit copy", "undecided"}, "noise may hide a copy, but never show none"
    assert (lent.how, lent.same_handle) == ("lease", True)
    assert lent.statement in {"no explicit copy", "undecided"}
    for each in (submitted, lent):
        assert each.not_observed
        assert each.hand_over.low <= each.hand_over.median <= each.hand_over.high
        assert len(each.sizes) >= 3


def test_a_service_that_hands_on_the_callers_array_shows_it(tmp_path):
    (tmp_path / "service.py").write_text(SERVICES)
    (submitted,) = measured(f"{tmp_path}/service.py:Passing").copies
    assert submitted.same_handle
    assert submitted.statement in {"no explicit copy", "undecided"}


def test_what_does_not_take_the_probe_is_undecided_and_says_why(tmp_path):
    (tmp_path / "service.py").write_text(SERVICES)
    found = measured(f"{tmp_path}/service.py:broken")
    (submitted,) = found.copies
    assert submitted.statement == "undecided"
    assert submitted.reason.endswith("RuntimeError")
    assert submitted.hand_over is None
    assert found.capacity is not None, "the memory is the sessions', not the service's"


def test_a_live_request_needs_the_bytes_of_its_inputs_and_outputs():
    capacity = measured("queue").capacity
    assert (capacity.base, capacity.per_unit, capacity.unit) == (2 * 16 * 4, 0, "none")
    assert capacity.weights > 2**20, "the process that holds the session"
    assert capacity.not_observed


def test_with_a_dynamic_dimension_a_request_needs_more_for_each_step_of_it():
    capacity = measured("queue", "builtin:rows").capacity
    assert capacity.per_unit == 2 * 16 * 4
    assert capacity.unit != "none"


def test_a_model_that_refuses_every_input_has_no_estimate(monkeypatch):
    adapter = load_adapter("numpy")

    def refuse(*_):
        raise AdapterError

    monkeypatch.setattr(type(adapter), "open", refuse)
    assert measured("queue").capacity is None


@pytest.mark.parametrize("service", ["queue", "pool"])
def test_statements_are_among_those_there_are(service):
    assert {each.statement for each in measured(service).copies} <= STATEMENTS
