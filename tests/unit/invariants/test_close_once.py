ID = "close-once"


def closed(book, session="s1"):
    call = book.begin("service-close")
    book.release(session)
    book.end(call, answer="returned", reentrant=False)


def test_released_once_before_close_returns_holds(book):
    book.open()
    closed(book)
    book.mark("quiescent")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 2


def test_closing_a_session_twice_breaks_it(book):
    book.open()
    closed(book)
    book.release(again=True)
    assert book.broken(ID) == ["session s1 was closed more than once"]


def test_a_close_that_never_returned_breaks_it(book):
    book.begin("service-close", "closer")
    assert "could return" in book.judge(ID).unknown
    book.mark("quiescent")
    assert book.broken(ID) == ["close() on closer has not returned"]


def test_a_session_never_released_breaks_it(book):
    book.open()
    book.close()
    book.mark("quiescent")
    assert book.broken(ID) == ["close() returned and session s1 was never released"]


def test_a_session_that_did_not_open_need_not_be_released(book):
    book.open(answer="error", error="ModelLoadError")
    book.close()
    book.mark("quiescent")
    assert book.broken(ID) == []


def test_a_session_left_by_a_service_that_did_not_open_breaks_it(book):
    call = book.begin("service-open", capacity=1, workers=2)
    book.open("s1")
    book.end(call, answer="error", error="DelegateInitError")
    book.mark("quiescent")
    assert book.broken(ID) == ["the service did not open, and session s1, which it had opened, was never released"]


def test_close_that_returns_before_the_release_breaks_it(book):
    book.open()
    book.close()
    book.release()
    assert book.broken(ID) == ["close() returned before session s1 was released"]


def test_the_end_of_a_release_is_ordered_with_the_end_of_close_only_in_a_controlled_execution(controlled, stress):
    for book in (controlled, stress):
        book.open()
        close = book.begin("service-close")
        release = book.begin("session-close", "w1", None, "s1")
        book.end(close, answer="returned", reentrant=False)
        book.end(release, answer="ok")
    assert len(controlled.broken(ID)) == 1
    assert stress.broken(ID) == []


def test_close_that_returns_during_a_run_breaks_it(book):
    book.open()
    call = book.bind("t1")
    closed(book)
    book.step(call, "invoke")
    assert "close() returned while t1 was still running" in book.broken(ID)


def test_two_closes_at_once_may_return_in_either_order(book):
    book.open()
    first, second = book.begin("service-close", "a"), book.begin("service-close", "b")
    book.release()
    book.end(second, answer="returned", reentrant=False)
    book.end(first, answer="returned", reentrant=False)
    book.mark("quiescent")
    assert book.broken(ID) == []


def test_a_reentrant_close_may_return_before_anything_is_done(book):
    book.open()
    call = book.bind("t1")
    book.close(thread="w1", reentrant=True)
    book.step(call, "invoke")
    closed(book)
    book.mark("quiescent")
    assert book.broken(ID) == []


def closed_because_of(book, reason, told):
    book.end(book.begin("service-close", drain=None, reason=reason), answer="returned", reentrant=False, reason=told)


def test_the_first_reason_is_kept(book):
    closed_because_of(book, "page-closed", "page-closed")
    closed_because_of(book, "shutdown", "page-closed")
    assert book.broken("close-once") == []


def test_a_later_reason_that_replaces_the_first_breaks_it(book):
    closed_because_of(book, "page-closed", "page-closed")
    closed_because_of(book, "shutdown", "shutdown")
    assert book.broken("close-once") == ["the service was closed because of page-closed, and names shutdown"]


def test_of_closes_that_overlap_either_may_be_first(book):
    one = book.begin("service-close", "a", drain=None, reason="page-closed")
    two = book.begin("service-close", "b", drain=None, reason="shutdown")
    book.end(two, answer="returned", reentrant=False, reason="shutdown")
    book.end(one, answer="returned", reentrant=False, reason="shutdown")
    assert book.broken("close-once") == []


def failing_release(book):
    book.end(book.begin("session-close", "w1", None, "s1", again=False), answer="error", error="RunError")


def test_another_try_after_a_close_that_raised_holds(book):
    book.open()
    failing_release(book)
    book.release(again=True)
    assert book.broken(ID) == []


def test_another_try_after_one_that_did_not_raise_breaks_it(book):
    book.open()
    failing_release(book)
    book.release(again=True)
    book.release(again=True)
    assert book.broken(ID) == ["session s1 was closed more than once"]


def test_a_second_close_while_the_first_is_in_flight_breaks_it(book):
    book.open()
    first = book.begin("session-close", "w1", None, "s1", again=False)
    book.release(thread="main", again=True)
    book.end(first, answer="error", error="RunError")
    assert book.broken(ID) == ["session s1 was closed more than once"]
