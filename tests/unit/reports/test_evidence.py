from __future__ import annotations

import hashlib
import json
from collections import Counter

from run_records import control, failing_run, run, swapped_outputs

from harness.history import Event
from reports.calls import pair_calls
from reports.evidence import history_jsonl, timeline_json


def test_the_history_holds_every_event_of_every_failure_under_its_heading():
    lines = history_jsonl(failing_run()).splitlines()
    heading = json.loads(lines[0])
    assert (heading["scenario"], heading["control"], heading["execution"]) == ("many-clients", "", 5)
    count = heading["events"]
    assert count == len(swapped_outputs().events)
    second = json.loads(lines[count + 1])
    assert (second["scenario"], second["control"]) == ("unsafe-shared", "unsafe-shared")
    assert len(lines) == 2 * (count + 1)


def test_the_history_digest_can_be_computed_from_the_lines():
    lines = history_jsonl(failing_run()).splitlines()
    heading = json.loads(lines[0])
    array = b"[" + b",".join(lines[1 : heading["events"] + 1]) + b"]"
    assert hashlib.sha256(array).hexdigest() == heading["historyDigest"]


def test_without_failures_there_is_no_history():
    assert history_jsonl(run(controls=())) == b""
    assert json.loads(timeline_json(run(controls=())))["traceEvents"] == []


def test_the_timeline_pairs_its_asynchronous_events_by_unique_ids():
    trace = json.loads(timeline_json(run(controls=(control(), control()))))["traceEvents"]
    begins = Counter(each["id"] for each in trace if each["ph"] == "b")
    ends = Counter(each["id"] for each in trace if each["ph"] == "e")
    assert set(begins.values()) == {1}
    assert not ends - begins
    # the two calls that never returned: the wait of t2 and its invoke, in each of the two processes
    assert sum((begins - ends).values()) == 4
    assert {each["pid"] for each in trace} == {1, 2}


def test_the_timeline_is_in_order_and_names_its_threads():
    trace = json.loads(timeline_json(failing_run()))["traceEvents"]
    names = [each["args"]["name"] for each in trace if each["name"] == "thread_name" and each["pid"] == 1]
    assert names == ["main", "client", "worker-1", "worker-2", "harness"]
    stamps = [each["ts"] for each in trace if each["ph"] != "M" and each["pid"] == 1]
    assert stamps == sorted(stamps)
    assert len(stamps) == len(swapped_outputs().events)


def event(seq: int, kind: str, thread: str = "a", **attrs) -> Event:
    return Event(seq, 0, thread, kind, attrs=attrs)


def test_calls_overlap_and_end_on_other_threads():
    events = (
        event(0, "invoke-begin", call=1),
        event(1, "invoke-begin", "b", call=2),
        event(2, "invoke-end", "b", call=1),
    )
    calls, single = pair_calls(events)
    assert [(call.begin.seq, call.end and call.end.seq) for call in calls] == [(0, 2), (1, None)]
    assert single == ()


def test_the_steps_of_one_run_share_a_number_and_are_three_calls():
    kinds = ("bind-begin", "bind-end", "invoke-begin", "invoke-end", "fetch-begin", "fetch-end")
    calls, _ = pair_calls([event(seq, kind, call=9) for seq, kind in enumerate(kinds)])
    assert [call.name for call in calls] == ["bind", "invoke", "fetch"]


def test_an_end_without_a_begin_is_not_dropped_and_actors_pair_without_numbers():
    events = (
        event(0, "actor-begin", "a"),
        event(1, "actor-begin", "b"),
        event(2, "actor-end", "a"),
        event(3, "wait-end", call=4),
    )
    calls, single = pair_calls(events)
    assert [(call.begin.thread, call.end is not None) for call in calls] == [("a", True), ("b", False)]
    assert [each.seq for each in single] == [3]
