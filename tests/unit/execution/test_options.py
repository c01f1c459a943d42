"""What a script asks for reaches the service where it takes it, and the history says what is in force."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.execution.client import _links
from harness.execution.configuration import Setup
from harness.execution.outcomes import outcome_kind, refusal_attrs, refusal_kind
from harness.execution.submit_options import SubmitOptions
from harness.service.config import Opening
from harness.service.errors import (
    DeadlineExpiredError,
    QueueFullError,
    ReplacedError,
    RunBudgetError,
    ServiceUnhealthyError,
)
from harness.service.observer import NullObserver
from harness.service.requests import Ordering, OverflowPolicy

ALL = frozenset({"classes", "deadline", "priority", "overflow:coalesce", "overflow:block", "retry-link"})
CLASSES = {
    "default": {},
    "camera": {"overflow": "keep-latest", "deadline": 0.25, "capacity": 2},
    "batch": {"overflow": "block", "block_seconds": 0.05, "priority": -1, "floor": 0.25},
}


def setup(*capabilities, **asked):
    spec = SimpleNamespace(capacity=3, slots=2, options={})
    bounded = any(each.startswith("overflow:") for each in capabilities)
    factory: Any = SimpleNamespace(
        spec=spec, capabilities=frozenset(capabilities), workers=2, capacity=3 if bounded else -1
    )
    return Setup(**{"factory": factory, "capacity": 3, **asked})


def begin(options, made, keys=None):
    taken = options.taken_by(ALL)
    return options.attrs(made, taken, {} if keys is None else keys)


def test_what_was_asked_for_is_configured():
    heard = []
    config = setup(
        classes=CLASSES, ordering="priority", run_budget=0.5, abandoned_limit=1, lazy=True, health_check=lambda: False
    ).config(NullObserver(), lambda session, sound: heard.append((session, sound)))
    assert [each.name for each in config.classes] == ["default", "camera", "batch"]
    assert config.classes[1].overflow is OverflowPolicy.KEEP_LATEST
    assert config.ordering is Ordering.PRIORITY
    assert (config.run_budget, config.abandoned_limit, config.opening) == (0.5, 1, Opening.LAZY)
    assert config.health_check is not None
    session: Any = SimpleNamespace()
    assert config.health_check(session) is False
    assert heard == [(session, False)]


def test_a_script_that_asks_for_nothing_leaves_the_defaults_and_the_history_as_it_was():
    made = setup("overflow:reject")
    assert made.config(NullObserver(), lambda *_: None).classes == ()
    assert made.attrs(1) == {
        "call": 1, "capacity": 3, "workers": 2, "running_cancel": False, "tells_dequeue": False
    }  # fmt: skip


@pytest.mark.parametrize(
    ("capabilities", "name", "overflow"),
    [
        (("overflow:reject", "overflow:block"), "default", "reject"),
        (("overflow:keep-latest",), "default", "keep-latest"),
        (("overflow:keep-latest", "overflow:block"), "default", ""),
        ((), "default", ""),
        (("overflow:reject",), "camera", "keep-latest"),
    ],
)
def test_the_overflow_in_force_is_the_class_s_or_what_the_service_declares(capabilities, name, overflow):
    assert setup(*capabilities, classes=CLASSES).overflow(name) == overflow


def test_an_order_is_said_only_where_one_is_declared():
    assert "order" not in setup("overflow:reject", ordering="priority").attrs(1)
    assert setup("fifo").attrs(1)["order"] == "fifo"
    assert setup("fair-share", ordering="fair-share").attrs(1)["order"] == "fair-share"


def test_a_class_is_said_in_whole_numbers():
    assert setup("overflow:reject", classes=CLASSES).class_attrs("batch") == {
        "class": "batch",
        "capacity": -1,
        "overflow": "block",
        "block_ms": 50,
        "weight_percent": 100,
        "floor_percent": 25,
    }


def test_a_service_that_lacks_a_capability_never_gets_the_option():
    first: Any = SimpleNamespace(future=object(), task="t1")
    options = SubmitOptions(request_class="camera", deadline=1.0, priority=2, key="same", retry_of=first, timeout=3.0)
    assert options.taken_by(frozenset()) == {}
    assert options.taken_by(frozenset({"deadline"})) == {"deadline": 1.0}
    assert options.taken_by(ALL)["retry_of"] is first.future


def test_a_retry_of_a_task_that_was_refused_has_nothing_to_link_to():
    refused: Any = SimpleNamespace(future=None, task="t1")
    options = SubmitOptions(retry_of=refused)
    assert options.taken_by(ALL) == {}
    assert begin(options, setup()) == {}


def test_what_the_class_says_is_in_force_where_the_caller_says_nothing():
    made = setup("overflow:reject", classes=CLASSES)
    assert begin(SubmitOptions(request_class="camera"), made) == {"class": "camera", "deadline_ms": 250}
    assert begin(SubmitOptions(request_class="camera", deadline=1.0), made)["deadline_ms"] == 1000
    batch = begin(SubmitOptions(request_class="batch"), made)
    assert batch == {"class": "batch", "priority": -1, "timeout_ms": 50}
    assert begin(SubmitOptions(request_class="batch", timeout=2.0), made)["timeout_ms"] == 2000


def test_equal_keys_have_one_number_and_their_values_stay_out_of_the_history():
    keys: dict[Any, int] = {}
    numbers = [begin(SubmitOptions(key=key), setup(), keys)["key"] for key in ("secret", "other", "secret")]
    assert numbers == [1, 2, 1]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DeadlineExpiredError(), "EXPIRED"),
        (ReplacedError(), "REPLACED"),
        (RunBudgetError(), "FAILED"),
        (type("Odd", (Exception,), {"outcome": "LOST"})(), "FAILED"),
    ],
)
def test_an_error_says_by_its_outcome_how_a_task_ended(error, kind):
    assert outcome_kind(error) == kind


def test_a_refusal_says_its_kind_and_when_to_come_again():
    assert refusal_kind(ServiceUnhealthyError()) == "unhealthy"
    assert refusal_attrs(QueueFullError("full", 0.25)) == {
        "answer": "refused", "refusal": "full", "error": "QueueFullError", "retry_after_ms": 250
    }  # fmt: skip
    assert "retry_after_ms" not in refusal_attrs(QueueFullError("full"))


def test_a_retry_is_linked_by_the_future_or_by_its_identity():
    first = SimpleNamespace(task_id="n1")
    assert _links(first, first)
    assert _links("n1", first)
    assert not _links("n2", first)
    assert not _links(None, SimpleNamespace())
