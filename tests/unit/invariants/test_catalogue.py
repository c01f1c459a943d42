from pathlib import Path

import pytest

from harness.history import Event, History
from harness.invariants import catalogue
from harness.invariants.catalogue import CATALOGUE, check_all
from harness.invariants.judgement import Invariant

IDS = {
    "own-output",
    "terminal-once",
    "no-delivery-after-cancel",
    "closed-rejects",
    "close-once",
    "release-after-drain",
    "capacity",
    "one-task-per-session",
    "owner-thread",
    "input-frozen",
    "output-owned",
    "contract-first",
    "timeout-is-a-wait",
    "delegate-truth",
    "no-deadlock",
    "private",
    "buffer-until-return",
    "callback-safe",
    "expires-on-time",
    "order",
    "quarantine",
    "recovery-order",
    "residency",
    "fault-contained",
    "fresh-only",
    "one-version",
    "counters-true",
    "evidence-true",
}


def test_the_catalogue_has_every_invariant_of_this_release():
    assert set(CATALOGUE) == IDS
    assert all(CATALOGUE[id_].id == id_ and CATALOGUE[id_].statement for id_ in IDS)


def test_nothing_happened_is_no_pass(book):
    judgements = check_all(book.history())
    assert set(judgements) == IDS
    assert all(judgement.checked == 0 and not judgement.violations for judgement in judgements.values())


def test_a_checker_that_crashes_gives_unknown(book, monkeypatch):
    broken = Invariant(id="private", statement="x", check=lambda _: 1 // 0)
    monkeypatch.setattr(catalogue, "CATALOGUE", {**CATALOGUE, "private": broken})
    book.submit("t1")
    book.deliver("t1")
    judgements = check_all(book.history())
    assert judgements["private"].unknown == "checker crashed: ZeroDivisionError"
    assert judgements["private"].checked == 0
    assert judgements["own-output"].checked == 1


@pytest.mark.parametrize(
    "event",
    [
        Event(0, 0, "main", "submit-begin"),
        Event(0, 0, "main", "deliver", "t9", None, None, {"outcome": "SUCCEEDED", "output": "match"}),
        Event(0, 0, "main", "session-close-begin", None, None, None, {"call": 1}),
    ],
)
def test_a_history_that_cannot_be_read_is_unknown_to_all(event):
    judgements = check_all(History("controlled", (event,)))
    assert all(judgement.unknown.startswith("checker crashed: ") for judgement in judgements.values())


def test_an_event_that_lacks_what_a_checker_needs_is_unknown(book):
    book.submit("t1")
    book.mark("output-rechecked", task="t1")
    assert book.judge("output-owned").unknown == "checker crashed: KeyError"


def test_an_unmet_expectation_breaks_the_invariant_that_it_names(book):
    book.mark("expectation", invariant="capacity", met=True, says="the third submit is refused")
    book.mark("expectation", invariant="capacity", met=False, says="the fourth submit is refused")
    assert book.broken("capacity") == ["the script expected otherwise: the fourth submit is refused"]
    assert book.judge("capacity").checked == 2


def test_an_expectation_of_an_invariant_without_a_checker_is_not_lost(book):
    book.mark("expectation", invariant="fresh-only", met=False, says="an old answer is not applied")
    assert len(book.broken("fresh-only")) == 1


def test_an_expectation_survives_a_history_that_cannot_be_read(book):
    book.mark("submit-begin")
    book.mark("expectation", invariant="private", met=False, says="nothing is told")
    judgement = book.judge("private")
    assert len(judgement.violations) == 1
    assert judgement.unknown


def test_several_services_in_one_execution_are_not_mixed_up(book):
    book.service()
    book.close()
    book.service()
    book.submit("t1")
    judgements = check_all(book.history())
    unknown = {id_ for id_, judgement in judgements.items() if "several services" in judgement.unknown}
    assert unknown == {"closed-rejects", "close-once", "capacity", "order", "recovery-order"}


def test_a_service_that_did_not_open_is_not_one_of_several(book):
    book.service(capacity=9, answer="error")
    book.service(capacity=0)
    book.submit("t1", "refused", refusal="full")
    assert book.judge("capacity").checked == 1
    assert book.broken("capacity") == []


def test_the_documentation_has_a_row_for_each():
    lines = (Path(__file__).parents[3] / "docs" / "invariants.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[1].strip().strip("`") for line in lines if line.startswith("| `")]
    assert rows == list(CATALOGUE)


def test_events_out_of_order_under_stress_are_sorted(stress):
    stress.submit("t1")
    stress.close()
    stress.submit("t2", "refused", refusal="closed")
    stress.events.reverse()
    assert stress.broken("closed-rejects") == []
    assert stress.judge("closed-rejects").checked == 1
