"""The interleaving as people read it in a terminal."""

from __future__ import annotations

import re

import pytest
from golden_files import matches_golden
from msgspec.structs import replace
from run_records import swapped_outputs

from harness.history import Event
from harness.verdict import Failure, Stop, Violation
from reports.failure_text import failure_text
from reports.interleaving import MOST_ROWS, WIDTH, interleaving


def test_a_mix_up_on_a_shared_session():
    matches_golden("interleaving.txt", interleaving(swapped_outputs()) + "\n")


EVENTS = (
    Event(0, 0, "script", "submit-begin", "t1", attrs={"call": 1}),
    Event(1, 0, "script", "submit-end", "t1", attrs={"call": 1, "answer": "refused", "refusal": "full"}),
    Event(2, 0, "script", "service-close-begin", attrs={"call": 2}),
    Event(3, 0, "sweep", "pending", "t1"),
)
PLACES = ("app/client.py:5", "app/client.py:5", "app/client.py:7", "")
LINES = {"app/client.py:5": "queue.submit(image)", "app/queue.py:9": "with self.lock:  # noqa: X - why"}


def failing(*proof, events=EVENTS, **more):
    return Failure((Violation("capacity", "wrong", proof),), "token", "digest", 0, events, **more)


def test_steps_after_the_proof_are_left_out():
    assert interleaving(failing(1)).splitlines() == ["     script", "> 0  submit t1: full"]
    assert interleaving(failing(3)).splitlines() == [
        "     script           at rest",
        "  0  submit t1: full",
        "  2  close ...",
        "> 3                   t1 still pending",
    ]


def test_the_source_stands_beside_each_step_and_the_file_is_named_once():
    assert interleaving(failing(2, places=PLACES, lines=LINES)).splitlines() == [
        "     script",
        "  0  submit t1: full  client.py:5  queue.submit(image)",
        "> 2  close ...                 :7",
    ]


def test_a_thread_that_is_stopped_and_goes_on_has_its_rows():
    stops = (
        Stop(1, "script", "stops", "app/queue.py:9", "service-1", "starts", ""),
        Stop(1, "service-1", "ends", "", "script", "goes on", "app/queue.py:9"),
    )
    drawn = interleaving(failing(1, places=PLACES, lines=LINES, stops=stops))
    assert drawn.splitlines() == [
        "     script            service-1",
        "  0  submit t1 ...                client.py:5  queue.submit(image)",
        "     stops             starts      queue.py:9  with self.lock:",
        "     goes on                               :9  with self.lock:",
        "> 1  ... submit: full             client.py:5  queue.submit(image)",
    ]


def test_a_turn_that_tells_nothing_new_has_no_row():
    waits = Stop(1, "script", "waits", PLACES[0], "service-1", "starts", "")
    over = Stop(9, "service-1", "stops", "app/queue.py:9", "sweep", "starts", "")
    assert interleaving(failing(1, places=PLACES, stops=(waits, over))) == interleaving(failing(1, places=PLACES))


def test_a_time_out_that_fires_has_a_row():
    fires = Stop(2, "service-1", "ends", "", "script", "times out", "app/queue.py:9")
    assert "     times out" in interleaving(failing(2, stops=(fires,)))


def test_a_loop_that_observes_nothing_is_cut():
    turns = tuple(
        Stop(
            1, f"service-{turn % 2}", "stops", "app/queue.py:9", f"service-{1 - turn % 2}", "goes on", "app/queue.py:9"
        )
        for turn in range(40)
    )
    lines = interleaving(failing(2, stops=turns)).splitlines()
    assert lines.count("     (and so on)") == 1
    assert len([line for line in lines if "stops" in line]) == 12


def test_it_fits_with_eight_threads():
    names = [f"a-long-thread-{number}" for number in range(8)]
    events = tuple(
        Event(seq, 0, name, "deliver", "t1", attrs={"outcome": "SUCCEEDED"}) for seq, name in enumerate(names)
    )
    places = ("folder/a_name_that_is_much_too_long.py:120",) * 8
    drawn = interleaving(failing(7, events=events, places=places, lines={places[0]: "x" * 300}))
    assert max(map(len, drawn.splitlines())) <= WIDTH
    assert len(re.findall(r"SUCCEEDED", drawn)) == 8


def test_files_of_one_name_keep_their_folders():
    drawn = interleaving(failing(2, places=("a/queue.py:1", "a/queue.py:1", "b/queue.py:2", "")))
    assert "a/queue.py:1" in drawn
    assert "b/queue.py:2" in drawn


def test_a_long_execution_is_cut_at_its_beginning():
    events = tuple(Event(seq, 0, "script", "cancel-end", f"t{seq}", attrs={"answer": False}) for seq in range(200))
    lines = interleaving(failing(199, events=events)).splitlines()
    assert lines[1].strip() == f"({200 - MOST_ROWS} earlier rows are not shown)"
    assert lines[-1] == "> 199  ... cancel: False"


def test_the_text_of_a_failure_names_proof_who_waits_and_the_command():
    failure = replace(failing(2), blocked=("script waits for lock A at queue.py:3",), token="rg1.x")
    lines = failure_text(failure).splitlines()
    assert lines[0] == "What went wrong: wrong (capacity, event 2)"
    assert lines[-3:] == ["  script waits for lock A at queue.py:3", "", "  racegate replay rg1.x"]
    assert "racegate replay" not in failure_text(failure, replay=False)


@pytest.mark.parametrize(
    ("told", "others"),
    [
        (("own-output", "wrong"), [("no-deadlock", "deadlock: a"), ("capacity", "b")]),
        (("no-deadlock", "deadlock: a"), [("close-once", "b"), ("terminal-once", "c")]),
        (("terminal-once", "c"), [("no-deadlock", "lost wakeup: script waits for the outcome of t1, and no")]),
    ],
)
def test_what_says_most_comes_first(told, others):
    failure = replace(failing(2), violations=tuple(Violation(*each, (2,)) for each in [*others, told]))
    assert failure_text(failure).startswith(f"What went wrong: {told[1]} ({told[0]}, event 2)")
