ID = "timeout-is-a-wait"


def timed_out(book, task="t1"):
    call = book.begin("wait", task=task, timeout_ms=10)
    book.end(call, answer="timed-out")


def test_a_task_that_ends_later_holds(book):
    book.submit("t1")
    timed_out(book)
    book.mark("quiescent")
    book.deliver("t1")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_task_that_is_lost_breaks_it(book):
    book.submit("t1")
    timed_out(book)
    book.mark("quiescent")
    book.mark("pending", task="t1")
    assert book.broken(ID) == ["a wait for t1 timed out, and t1 never ended"]


def test_a_wait_that_cancels_breaks_it(book):
    book.submit("t1")
    timed_out(book)
    book.mark("quiescent")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == ["a wait for t1 timed out, and t1 was CANCELLED though nobody asked"]


def test_a_cancel_in_progress_explains_that(book):
    book.submit("t1")
    cancel = book.begin("cancel", "other", "t1")
    timed_out(book)
    book.end(cancel, answer=True, cancel_kind="running")
    book.mark("quiescent")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []


def test_another_task_s_output_breaks_it(book):
    book.submit("t1")
    timed_out(book)
    book.deliver("t1", output="other-task:t2")
    assert len(book.broken(ID)) == 1


def test_a_wait_that_was_answered_is_no_premise(book):
    book.submit("t1")
    book.end(book.begin("wait", task="t1", timeout_ms=-1), answer="done")
    book.deliver("t1")
    assert book.judge(ID).checked == 0


def test_an_execution_cut_short_is_unknown(book):
    book.submit("t1")
    timed_out(book)
    judgement = book.judge(ID)
    assert judgement.checked == 0
    assert judgement.unknown


def test_a_retry_with_a_link_holds(book):
    book.submit("t1")
    book.submit("t2", end={"linked": True}, retry_of="t1")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_retry_without_a_link_breaks_it(book):
    book.submit("t1")
    book.submit("t2", end={"linked": False}, retry_of="t1")
    assert book.broken(ID) == ["t2 has no link to t1, which it is a retry of"]


def test_a_retry_that_is_the_first_task_breaks_it(book):
    book.submit("t1")
    book.submit("t2", end={"linked": False, "future_of": "t1"}, retry_of="t1")
    assert book.broken(ID) == ["t2 was given the future of t1, which it is a retry of"]
