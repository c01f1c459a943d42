"""A replay that differs is told by its first differing decision, in words."""

from __future__ import annotations

import pytest

from harness.execution.decisions import Decided, first_difference
from harness.history import Event

THREADS = ("script", "alice", "bob")
SUBMITTED = (Event(0, 0, "alice", "submit-begin", "t1"),)
FIRST = (0, 3, 2, False, 1)


def told(one, other, events=(SUBMITTED, SUBMITTED)):
    return first_difference(Decided(one, THREADS, events[0]), Decided(other, THREADS, events[1]))


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ((1, 4, 2, False, 1), (1, 4, 2, False, 2), "at step 4 of alice alice went on, in the replay bob"),
        ((1, 4, 3, False, 1), (1, 4, 1, True, 1), "at step 4 of alice 3 threads could go on, in the replay 1 thread"),
        ((1, 4, 2, False, 1), (2, 7, 2, False, 1), "it came at step 4 of alice, in the replay at step 7 of bob"),
        ((-1, 0, 2, False, 1), (1, 4, 2, False, 1), "it came with nobody running, in the replay at step 4 of alice"),
        ((1, 4, 2, False, 7), (1, 4, 2, False, 1), "at step 4 of alice thread 7 went on, in the replay alice"),
    ],
)
def test_the_first_differing_decision_is_named(one, other, says):
    later = (0, 9, 2, False, 0)
    assert told([FIRST, one, later], [FIRST, other]).startswith(f"a replay differs at decision 2: {says}")


def test_a_time_out_that_could_fire_is_part_of_the_decision():
    message = told([(1, 4, 2, True, 1)], [(1, 4, 2, False, 1)])
    assert message.endswith("2 threads could go on or a time-out fire, in the replay 2 threads could go on")


def test_a_decision_that_only_one_came_to_is_named():
    assert told([FIRST], [FIRST, (2, 5, 2, False, 2)]) == (
        "a replay differs at decision 2: only the replay came to it, at step 5 of bob"
    )
    assert "only the execution came to it, at step 3 of script" in told([FIRST], [])


def test_the_first_differing_event_is_named_where_every_decision_is_the_same():
    refused = (Event(0, 0, "alice", "cancel-begin", "t1"),)
    message = told([FIRST], [FIRST], (SUBMITTED, refused))
    assert message == (
        "a replay differs at event 0, though every decision is the same: alice submit-begin became alice cancel-begin"
    )
    shorter = told([FIRST], [FIRST], (SUBMITTED, ()))
    assert shorter == "a replay has 0 events, the execution had 1, though every decision is the same"
