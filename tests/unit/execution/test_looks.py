"""What a look writes into the history, and what it takes for a payload."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from harness.execution.looks import _is_plain, look
from harness.service.event_ring import Event, Evidence, Incident, SlotUse


class Records:
    """A recorder that keeps what it is told."""

    def __init__(self):
        self.events = []

    def next_call(self):
        return 1

    def record(self, kind, task=None, attrs=()):
        self.events.append((kind, task, dict(attrs)))


def state(capabilities=("counters", "incidents"), events=8, handles=()):
    return SimpleNamespace(
        recorder=Records(),
        factory=SimpleNamespace(capabilities=frozenset(capabilities)),
        setup=SimpleNamespace(events=events),
        handles=list(handles),
    )


def handle(task, name):
    return SimpleNamespace(task=task, future=SimpleNamespace(task_id=name))


EVIDENCE = Evidence(
    task_id="n1",
    request_class="default",
    at=0.003,
    accepted_at=0.001,
    started_at=0.002,
    due=None,
    waits_for="slot 0",
    buffers_held_by="slot 0",
    queue_depth=2,
    busy=(SlotUse(slot=0, task_id="n1", since=0.002),),
)
EVENTS = (
    Event(at=0.001, kind="accepted", task_id="n1"),
    Event(at=0.0015, kind="accepted", task_id="n2"),
    Event(at=0.002, kind="started", task_id="n1", slot=0),
    Event(at=0.003, kind="wait-ended", task_id="n1", slot=0),
)
INCIDENT = Incident(error="TimeoutError", evidence=EVIDENCE, events=EVENTS, own=3, complete=False)


class Service:
    """Says what it is told to say."""

    def __init__(self, frozen=(INCIDENT,), recent=EVENTS):
        self.kept, self.last = frozen, recent

    def counters(self):
        return SimpleNamespace(accepted=2, running=1, last_error=None, elephants=3)

    def frozen(self):
        return self.kept

    def recent(self):
        return self.last

    def evidence(self, _):
        return EVIDENCE


def test_a_look_names_tasks_slots_and_times_as_the_history_does():
    seen = state(handles=[handle("t1", "n1")])
    look(seen, Service())
    (begin, *_), incident, evidence, end = seen.recorder.events
    said = {
        "call": 1, "at": 3_000_000, "accepted_at": 1_000_000, "started_at": 2_000_000, "waits_for": "slot0",
        "held_by": "slot0", "queue_depth": 2, "busy": "slot0:t1",
    }  # fmt: skip
    assert begin == "look-begin"
    own = {"error": "TimeoutError", "how": "wait-ended", "names": "t1", "stages": "accepted started", "payload": False}
    assert incident == ("incident", "t1", said | own)
    assert evidence == ("evidence", "t1", said)
    told = {"accepted": 2, "running": 1, "last_error": None}
    told |= {"distinct": True, "ordered": True, "payload": False, "untold": ""}
    assert end == ("look-end", None, {"call": 1, "answer": "told", **told})


@pytest.mark.parametrize("lacking", [{"capabilities": ("counters",)}, {"events": 0}])
def test_a_service_without_incidents_is_asked_for_its_counters_alone(lacking):
    seen = state(**lacking)
    look(seen, Service())
    assert [kind for kind, *_ in seen.recorder.events] == ["look-begin", "look-end"]
    assert "distinct" not in seen.recorder.events[-1][2]


def test_what_the_service_raises_is_recorded():
    seen = state()
    look(seen, object())
    assert seen.recorder.events[-1][2] == {"call": 1, "answer": "raised", "error": "AttributeError"}


def test_two_tasks_with_one_name_are_noticed():
    seen = state(handles=[handle("t1", "n1"), handle("t2", "n1")])
    look(seen, Service())
    assert seen.recorder.events[-1][2]["distinct"] is False


def test_events_that_are_missing_or_out_of_order_are_noticed():
    seen = state(handles=[handle("t1", "n1"), handle("t2", "n2")])
    look(seen, Service(recent=(EVENTS[3], EVENTS[0])))
    assert seen.recorder.events[-1][2]["ordered"] is False
    assert seen.recorder.events[-1][2]["untold"] == "t2"


def test_a_ring_that_is_full_may_have_dropped_a_task():
    seen = state(handles=[handle("t3", "n3")], events=len(EVENTS))
    look(seen, Service())
    assert seen.recorder.events[-1][2]["untold"] == ""


def test_a_payload_is_noticed_in_the_ring_and_in_an_incident():
    text = Event(at=0.0, kind="failed", task_id="n1", detail="no such user: ada@example.org, row 7")
    seen = state(handles=[handle("t1", "n1")])
    incident = Incident(error="RunError", evidence=EVIDENCE, events=(*EVENTS, text), own=3, complete=True)
    look(seen, Service(frozen=(incident,), recent=(text,)))
    assert seen.recorder.events[1][2]["payload"] is True
    assert seen.recorder.events[-1][2]["payload"] is True


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        2.5,
        True,
        "",
        "RunError",
        "a slot",
        "wait-ended",
        "slot0:t1",
        ("a", 1),
        {"kind": "late"},
        EVENTS,
        INCIDENT,
    ],
    ids=lambda value: type(value).__name__,
)
def test_numbers_names_and_records_of_such_are_no_payload(value):
    assert _is_plain(value)


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(1), b"x", object(), "the run failed [t1]", "one two three four", "x" * 200, "[1. 2. 3.]",
        (1, [np.float32(1.0)]), {"input": np.zeros(3)}, SimpleNamespace(detail=bytearray(4)),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_whatever_else_is(value):
    assert not _is_plain(value)
