# ruff: noqa: ARG001 - every mutation takes the same three arguments
"""A correct history with one thing broken is flagged, by the invariant that names it."""

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.history import Event, History
from harness.invariants.catalogue import check_all


class NotHereError(Exception):
    """The execution has nothing that this mutation could break."""


def replaced(events, event, **changes):
    """The events with one changed: attributes by name, or the event's own fields."""
    fields = {key: changes.pop(key) for key in ("thread", "task") if key in changes}
    new = msgspec.structs.replace(event, attrs={**event.attrs, **changes}, **fields)
    return [new if other is event else other for other in events]


def find(events, kind, **attrs):
    found = [e for e in events if e.kind == kind and all(e.attrs.get(k) == v for k, v in attrs.items())]
    if not found:
        raise NotHereError
    return found


def drop_outcome(book, queue, dice):
    task = dice.choice(find(book.events, "deliver")).task
    return [e for e in book.events if not (e.kind == "deliver" and e.task == task)]


def contradict(book, queue, dice):
    event = dice.choice(find(book.events, "deliver", outcome="SUCCEEDED"))
    return [*book.events, msgspec.structs.replace(event, attrs={"outcome": "CANCELLED", "via": "sweep"})]


def swap_outputs(book, queue, dice):
    event = dice.choice(find(book.events, "deliver", output="match"))
    return replaced(book.events, event, output="other-task:t9")


def deliver_after_cancel(book, queue, dice):
    granted = {event.task for event in find(book.events, "cancel-end", answer=True)}
    event = [e for e in find(book.events, "deliver", outcome="CANCELLED") if e.task in granted][-1]
    return replaced(book.events, event, outcome="SUCCEEDED", output="match")


def run_after_queued_cancel(book, queue, dice):
    task = dice.choice(find(book.events, "cancel-end", cancel_kind="queued")).task
    at = book.events.index(find(book.events, "quiescent")[0])
    tail, book.events = book.events[at:], book.events[:at]
    book.run(task, "s0", "w0")
    return book.events + tail


def accept_after_close(book, queue, dice):
    book.submit("t77")
    book.deliver("t77")
    return book.events


def open_after_close(book, queue, dice):
    book.open("s77")
    book.release("s77")
    return book.events


def close_session_twice(book, queue, dice):
    book.release("s0", "w0", again=dice.random() < 0.5)
    return book.events


def forget_session(book, queue, dice):
    return [e for e in book.events if not (e.kind.startswith("session-close") and e.session == "s0")]


def lose_close(book, queue, dice):
    event = dice.choice(find(book.events, "service-close-end"))
    return [e for e in book.events if e is not event]


def release_early(book, queue, dice):
    at = book.events.index(dice.choice(find(book.events, "invoke-end")))
    session = book.events[at].session
    moved = [e for e in book.events if e.kind.startswith("session-close") and e.session == session]
    assert len(moved) == 2
    rest = [e for e in book.events if e not in moved]
    at = next(i for i, e in enumerate(rest) if e.seq == at)
    return rest[:at] + moved + rest[at:]


def share_session(book, queue, dice):
    event = dice.choice(find(book.events, "invoke-end"))
    at = book.events.index(event)
    tail, book.events = book.events[at:], book.events[:at]
    book.run(None, event.session, "intruder", unattributed=True)
    return book.events + tail


def pass_unordered(book, queue, dice):
    return replaced(book.events, dice.choice(find(book.events, "bind-begin")), handover="unordered")


def overfill(book, queue, dice):
    at = dice.randrange(book.events.index(find(book.events, "service-open-end")[0]) + 1, len(book.events))
    tail, book.events = book.events[at:], book.events[:at]
    for n in range(queue.capacity + queue.workers + 1):
        book.submit(f"t9{n}", thread="flood")
    return book.events + tail


def refuse_with_room(book, queue, dice):
    if not queue.capacity:
        raise NotHereError
    at = book.events.index(find(book.events, "service-open-end")[0]) + 1
    tail, book.events = book.events[at:], book.events[:at]
    book.submit("t88", "refused", refusal="full")
    return book.events + tail


def run_the_decoy(book, queue, dice):
    late = {e.task for e in find(book.events, "input-overwritten")} - queue.frozen_late
    found = [e for e in find(book.events, "deliver", outcome="SUCCEEDED") if e.task in late]
    if not found:
        raise NotHereError
    events = book.events
    for event in found:
        events = replaced(events, event, output=f"overwritten:{event.task}")
    return events


def change_output(book, queue, dice):
    task = dice.choice(find(book.events, "deliver", outcome="SUCCEEDED")).task
    book.mark("output-rechecked", task=task, same=False)
    return book.events


def run_malformed(book, queue, dice):
    event = dice.choice(find(book.events, "bind-end", reached_runtime=False))
    return replaced(book.events, event, reached_runtime=True)


def lose_after_timeout(book, queue, dice):
    number = dice.choice(find(book.events, "wait-end", answer="timed-out")).task
    return [e for e in book.events if not (e.kind == "deliver" and e.task == number)]


def fall_back_silently(book, queue, dice):
    return replaced(book.events, dice.choice(find(book.events, "session-open-end")), actual="cpu")


def get_stuck(book, queue, dice):
    book.mark("stuck", "a", role="client", waits_for="Lock 1", holder=None)
    return book.events


def leak_text(book, queue, dice):
    return replaced(book.events, dice.choice(find(book.events, "deliver", outcome="FAILED")), foreign=True)


def forget_the_deadline(book, queue, dice):
    task = dice.choice(find(book.events, "deliver", outcome="EXPIRED")).task
    begin = next(e for e in book.events if e.kind == "submit-begin" and e.task == task)
    attrs = {key: value for key, value in begin.attrs.items() if key != "deadline_ms"}
    return [msgspec.structs.replace(e, attrs=attrs) if e is begin else e for e in book.events]


def overtake(book, queue, dice):
    place = {event: number for number, event in enumerate(map(id, book.events))}
    ends = {e.task: place[id(e)] for e in book.events if e.kind == "submit-end"}
    begins = {e.task: place[id(e)] for e in book.events if e.kind == "submit-begin"}
    taken = find(book.events, "dequeue")
    for one in taken:
        for other in taken:
            if ends[one.task] < begins[other.task] and ends[other.task] < place[id(one)] < place[id(other)]:
                return replaced(replaced(book.events, one, task=other.task), other, task=one.task)
    raise NotHereError


def replace_without_need(book, queue, dice):
    if queue.replaces:
        raise NotHereError
    events, task = book.events, dice.choice(find(book.events, "deliver", outcome="SUCCEEDED")).task
    for event in [e for e in find(events, "deliver") if e.task == task]:
        events = replaced(events, event, outcome="REPLACED")
    return events


def lease_in_quarantine(book, queue, dice):
    ready = find(book.events, "slot-state", state="ready")[0]
    later = book.events[book.events.index(ready) :]
    if not any(e.kind == "lease-begin" and e.slot == ready.slot for e in later):
        raise NotHereError
    return [e for e in book.events if e is not ready]


def bind_before_the_return(book, queue, dice):
    cancelled = find(book.events, "cancel-end", cancel_kind="running")[0]
    at = book.events.index(cancelled) + 1
    steps = {"invoke-end", "fetch-end"}
    after = next((e for e in book.events[at:] if e.kind in steps and e.task == cancelled.task), None)
    if after is None or not any(e.kind == "bind-begin" and e.task == cancelled.task for e in book.events[:at]):
        raise NotHereError
    bind = {"call": 999, "unattributed": True}
    reused = Event(0, after.at_ns, "w9", "bind-begin", None, after.session, None, bind)
    return [*book.events[:at], reused, *book.events[at:]]


def fail_a_neighbour(book, queue, dice):
    fault = find(book.events, "fault-injected")[0]
    ends = [e for e in find(book.events, "deliver", outcome="SUCCEEDED") if e.seq > fault.seq]
    first = [e for e in ends if not any(o.kind == "deliver" and o.task == e.task for o in book.events[: e.seq])]
    if not first:
        raise NotHereError
    event = dice.choice(first)
    attrs = {"outcome": "FAILED", "error": "RunError", "foreign": False, "via": "sweep"}
    return [msgspec.structs.replace(e, attrs=attrs) if e is event else e for e in book.events]


def call_back_early(book, queue, dice):
    return replaced(book.events, dice.choice(find(book.events, "callback-begin")), done=False)


def marked(book, kind, task=None, **attrs):
    """One more event at the end."""
    last = book.events[-1]
    return Event(last.seq + 1, last.at_ns, "main", kind, task, None, None, attrs)


def name_another_version(book, queue, dice):
    ran = {event.task for event in find(book.events, "invoke-begin")}
    delivered = [e for e in find(book.events, "deliver", outcome="SUCCEEDED") if e.task in ran]
    if not delivered:
        raise NotHereError
    attrs = {"call": 10**6, "version": "v2", "pending": "finish"}
    switch = [marked(book, "model-switch-begin", **attrs), marked(book, "model-switch-end", **attrs, answer="refused")]
    return [*replaced(book.events, dice.choice(delivered), version="v2"), *switch]


def show_an_older_one(book, queue, dice):
    tasks = [event.task for event in find(book.events, "submit-begin")]
    shown = ((2, dice.choice(tasks)), (1, dice.choice(tasks)))
    return [*book.events, *(marked(book, "applied", task, subscriber=1, context=context) for context, task in shown)]


def rebuild_before_the_call_returned(book, queue, dice):
    return [*book.events, *(marked(book, "recovery-step", step=step) for step in ("mark", "invalidate"))]


def load_for_each_client(book, queue, dice):
    clients = []
    for number in (1, 2):
        service, session = {"call": 10**6 + number}, {"call": 2 * 10**6 + number}
        opened = [
            marked(book, "session-open-begin", **session),
            marked(book, "session-open-end", **session, answer="ok"),
        ]
        clients += [
            marked(book, "service-open-begin", **service, workers=1, resident=True),
            *(msgspec.structs.replace(event, session=f"resident-{number}") for event in opened),
            marked(book, "service-open-end", **service, answer="ok"),
        ]
    return [*clients, *book.events]


def count_one_too_many(book, queue, dice):
    event = dice.choice(find(book.events, "look-end"))
    return replaced(book.events, event, accepted=event.attrs["accepted"] + 7)


def keep_the_inputs(book, queue, dice):
    call, told = {"call": 10**6}, {"answer": "told", "distinct": True, "ordered": True, "payload": True, "untold": ""}
    evidence = marked(book, "evidence", **call, at=book.events[-1].at_ns)
    return [*book.events, marked(book, "look-begin", **call), evidence, marked(book, "look-end", **call, **told)]


MUTATIONS = {
    count_one_too_many: "counters-true",
    keep_the_inputs: "evidence-true",
    load_for_each_client: "residency",
    rebuild_before_the_call_returned: "recovery-order",
    name_another_version: "one-version",
    show_an_older_one: "fresh-only",
    forget_the_deadline: "expires-on-time",
    overtake: "order",
    replace_without_need: "capacity",
    lease_in_quarantine: "quarantine",
    bind_before_the_return: "buffer-until-return",
    call_back_early: "callback-safe",
    drop_outcome: "terminal-once",
    contradict: "terminal-once",
    swap_outputs: "own-output",
    deliver_after_cancel: "no-delivery-after-cancel",
    run_after_queued_cancel: "no-delivery-after-cancel",
    accept_after_close: "closed-rejects",
    open_after_close: "closed-rejects",
    close_session_twice: "close-once",
    forget_session: "close-once",
    lose_close: "close-once",
    release_early: "release-after-drain",
    share_session: "one-task-per-session",
    pass_unordered: "owner-thread",
    overfill: "capacity",
    refuse_with_room: "capacity",
    run_the_decoy: "input-frozen",
    change_output: "output-owned",
    run_malformed: "contract-first",
    lose_after_timeout: "timeout-is-a-wait",
    fall_back_silently: "delegate-truth",
    fail_a_neighbour: "fault-contained",
    get_stuck: "no-deadlock",
    leak_text: "private",
}


ORDERED = {"counters-true", "evidence-true"}
"""Judged where one order of all events is known."""


def broken_copy(execution, renumber, mutate, seed, mode):
    """Break the first execution, from this seed on, that has what the mutation needs."""
    for attempt in range(seed, seed + 300):
        book, queue = execution(attempt, mode)
        try:
            return History(mode, renumber(mutate(book, queue, random.Random(attempt))))
        except NotHereError:
            continue
    pytest.fail("no execution has what the mutation needs")


@pytest.mark.parametrize(
    ("mutate", "invariant"), MUTATIONS.items(), ids=lambda value: getattr(value, "__name__", value)
)
def test_a_broken_copy_is_flagged_by_name(execution, renumber, mutate, invariant):
    modes = ("controlled",) if invariant in ORDERED else ("controlled", "stress")

    @given(seed=st.integers(0, 2**32), mode=st.sampled_from(modes))
    @settings(max_examples=40, deadline=None)
    def broken(seed, mode):
        judgement = check_all(broken_copy(execution, renumber, mutate, seed, mode))[invariant]
        assert judgement.violations
        assert judgement.checked >= 1

    broken()


def test_every_invariant_has_a_mutation():
    assert set(MUTATIONS.values()) == set(check_all(History("controlled", ())))
