ID = "closed-rejects"


def test_a_refusal_after_close_holds(book):
    book.close()
    book.submit("t1", "refused", refusal="closed")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_accepted_after_close_returned_breaks_it(book):
    book.close()
    book.submit("t1")
    assert book.broken(ID) == ["t1 was accepted after close() had returned"]


def test_accepted_after_a_reentrant_close_breaks_it(book):
    book.close(thread="w1", reentrant=True)
    book.submit("t1")
    assert len(book.broken(ID)) == 1


def test_accepted_after_another_was_refused_as_closed_breaks_it(book):
    book.begin("service-close")
    book.submit("t1", "refused", refusal="closed")
    book.submit("t2")
    assert book.broken(ID) == ["t2 was accepted after t1 had been refused as closed"]


def test_accepted_after_the_service_said_draining_breaks_it(book):
    book.mark("state", "w1", state="accepting")
    book.mark("state", "w1", state="draining")
    book.submit("t1")
    assert book.broken(ID) == ["t1 was accepted after the service had said that it was draining"]


def test_accepted_while_close_is_in_progress_holds(book):
    call = book.begin("service-close")
    book.submit("t1", thread="other")
    book.end(call, answer="returned", reentrant=False)
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 0


def test_accepted_in_a_submit_that_began_before_close_holds(book):
    call = book.begin("submit", "other", "t1")
    book.close()
    book.submit("t2", "refused", refusal="closed")
    book.end(call, answer="accepted")
    assert book.broken(ID) == []


def test_a_session_opened_after_close_breaks_it(book):
    book.close()
    book.open()
    assert book.broken(ID) == ["session s1 was opened after close() had returned"]


def test_a_draining_pool_may_open_a_session(book):
    book.submit("t1")
    close = book.begin("service-close", drain=True)
    book.mark("state", "w1", state="draining")
    book.open()
    book.end(close, answer="returned", reentrant=False)
    assert book.broken(ID) == []


def test_so_may_one_whose_close_was_reentrant(book):
    book.close(thread="w1", reentrant=True)
    book.open()
    assert book.broken(ID) == []


def test_a_session_of_another_service_that_then_does_not_open_holds(book):
    book.service()
    book.close()
    call = book.begin("service-open", capacity=2, workers=1, running_cancel=True, tells_dequeue=False)
    book.open("s2")
    book.end(call, answer="error", error="ModelLoadError")
    assert book.broken(ID) == []


def test_one_that_opens_before_the_other_service_begins_breaks_it(book):
    book.service()
    book.close()
    book.open("s2")
    call = book.begin("service-open", capacity=2, workers=1, running_cancel=True, tells_dequeue=False)
    book.end(call, answer="error", error="ModelLoadError")
    assert book.broken(ID) == ["session s2 was opened after close() had returned"]
