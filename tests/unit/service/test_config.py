import dataclasses

import pytest

from harness.service.config import DelegatePolicy, ServiceConfig
from harness.service.errors import (
    QueueFullError,
    RunAbortedError,
    ServiceClosedError,
    ServiceError,
    SessionReleaseError,
)
from harness.service.queue import SerialQueue


def test_defaults_are_one_slot_that_requires_its_delegate():
    config = ServiceConfig(capacity=3)
    assert (config.slots, config.delegate) == (1, DelegatePolicy.REQUIRE)


def test_a_delegate_policy_may_be_given_by_value():
    assert ServiceConfig(capacity=1, delegate="prefer").delegate is DelegatePolicy.PREFER


@pytest.mark.parametrize(
    ("values", "error", "says"),
    [
        ({"capacity": 0}, ValueError, "capacity must be at least 1, not 0"),
        ({"capacity": 1, "slots": 0}, ValueError, "slots must be at least 1, not 0"),
        ({"capacity": 1.0}, TypeError, "capacity must be an integer, not float"),
        ({"capacity": True}, TypeError, "capacity must be an integer, not bool"),
        (
            {"capacity": 1, "delegate": "maybe"},
            ValueError,
            "delegate must be one of require, prefer, cpu-only, not 'maybe'",
        ),
    ],
)
def test_a_bad_value_is_named(values, error, says):
    with pytest.raises(error, match=says):
        ServiceConfig(**values)


def test_the_configuration_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ServiceConfig(capacity=1).capacity = 2


def test_a_serial_queue_has_one_slot(runtime):
    with pytest.raises(ValueError, match="one slot, not 2"):
        SerialQueue(runtime.open, ServiceConfig(capacity=1, slots=2))
    assert runtime.sessions == []


@pytest.mark.parametrize("kind", [QueueFullError, RunAbortedError, ServiceClosedError, SessionReleaseError])
def test_every_error_of_the_service_is_one_class(kind):
    assert issubclass(kind, ServiceError)
