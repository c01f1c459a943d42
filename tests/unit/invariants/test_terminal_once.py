ID = "terminal-once"


def test_one_outcome_seen_twice_holds(book):
    book.submit("t1")
    book.deliver("t1")
    book.mark("quiescent")
    book.deliver("t1")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_task_pending_at_the_end_breaks_it(book):
    book.submit("t1")
    book.mark("quiescent")
    book.mark("pending", task="t1")
    assert book.broken(ID) == ["t1 was accepted and never ended"]


def test_the_message_says_that_close_never_returned(book):
    book.submit("t1")
    book.begin("service-close", "closer", drain=True)
    book.mark("quiescent")
    book.mark("pending", task="t1")
    assert book.broken(ID) == ["t1 was accepted and never ended, and close() never returned"]


def test_an_outcome_that_nobody_saw_breaks_it_only_at_rest(book):
    book.submit("t1")
    assert book.broken(ID) == []
    assert "ended before" in book.judge(ID).unknown
    book.mark("quiescent")
    assert book.broken(ID) == ["t1 was accepted and never ended"]


def test_two_outcomes_break_it(book):
    book.submit("t1")
    book.deliver("t1", "CANCELLED")
    book.deliver("t1", "SUCCEEDED")
    assert book.broken(ID) == ["t1 ended twice: CANCELLED, then SUCCEEDED"]


def test_a_waiter_that_never_woke_breaks_it(book):
    book.submit("t1")
    book.begin("wait", "waiter", "t1", timeout_ms=-1)
    book.mark("quiescent")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == ["t1 is CANCELLED, and a waiter for it on waiter never woke"]


def test_a_submit_that_overlaps_close_may_be_refused_or_accepted(book):
    refused, accepted = book.begin("submit", "a", "t1"), book.begin("submit", "b", "t2")
    close = book.begin("service-close", drain=False)
    book.end(refused, answer="refused", refusal="closed")
    book.end(accepted, answer="accepted")
    book.end(close, answer="returned", reentrant=False)
    book.mark("quiescent")
    book.deliver("t2", "CANCELLED")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_future_that_another_task_has_already_breaks_it(book):
    book.submit("t1")
    book.submit("t2", end={"future_of": "t1"})
    book.deliver("t1")
    book.deliver("t2")
    assert book.broken("terminal-once") == ["t2 was given the future of t1"]


def test_expired_and_then_succeeded_breaks_it(book):
    book.submit("t1", deadline_ms=50)
    book.deliver("t1", "EXPIRED")
    book.deliver("t1")
    assert book.broken("terminal-once") == ["t1 ended twice: EXPIRED, then SUCCEEDED"]
