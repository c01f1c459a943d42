"""The interleaving as people read it in a terminal."""

from __future__ import annotations

from golden_files import matches_golden
from msgspec.structs import replace
from run_records import swapped_outputs

from harness.history import Event
from harness.verdict import Failure, Violation
from reports.interleaving import MOST_ROWS, interleaving


def test_a_mix_up_on_a_shared_session():
    matches_golden("interleaving.txt", interleaving(swapped_outputs()) + "\n")


def test_blocked_threads_follow_and_steps_after_the_proof_are_left_out():
    events = (
        Event(0, 0, "script", "submit-begin", "t1", attrs={"call": 1}),
        Event(1, 0, "script", "submit-end", "t1", attrs={"call": 1, "answer": "refused", "refusal": "full"}),
        Event(2, 0, "script", "service-close-begin", attrs={"call": 2}),
        Event(3, 0, "sweep", "pending", "t1"),
    )
    violation = Violation("capacity", "refused though there was room", (1,))
    failure = Failure((violation,), "token", "digest", 0, events, ("script waits for a lock at queue.py:3",))
    assert interleaving(failure).splitlines() == [
        "  script",
        "> submit t1: full",
        "  script waits for a lock at queue.py:3",
    ]
    late = replace(failure, violations=(Violation("terminal-once", "t1 never ended", (3,)),), blocked=())
    assert interleaving(late).splitlines() == [
        "  script           afterwards",
        "  submit t1: full",
        "  close ...",
        ">                  t1 still pending",
    ]


def test_a_long_execution_is_cut_at_its_beginning():
    events = tuple(Event(seq, 0, "script", "cancel-end", f"t{seq}", attrs={"answer": False}) for seq in range(200))
    failure = Failure((Violation("own-output", "wrong", (199,)),), "token", "digest", 0, events)
    lines = interleaving(failure).splitlines()
    assert lines[1] == f"  ({200 - MOST_ROWS} earlier steps are not shown)"
    assert lines[-1] == "> ... cancel: False"
