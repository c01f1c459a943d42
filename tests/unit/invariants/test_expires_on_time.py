import pytest

ID = "expires-on-time"


def held_run_ahead(book, deadline_ms=50):
    """A task waits behind a run that is in flight; both were submitted at 0."""
    book.service()
    book.submit("t1")
    call = book.bind("t1")
    book.submit("t2", deadline_ms=deadline_ms)
    return call


def end_run(book, call):
    book.step(call, "invoke")
    book.step(call, "fetch")


def test_a_task_that_expires_when_it_is_due_holds(book):
    call = held_run_ahead(book)
    book.now_ms = 50
    book.deliver("t2", "EXPIRED", expired_kind="queued")
    end_run(book, call)
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_clock_that_runs_late_is_no_violation(book):
    call = held_run_ahead(book)
    book.now_ms = 9000
    end_run(book, call)
    book.deliver("t2", "EXPIRED", expired_kind="queued")
    assert book.broken(ID) == []


def test_expired_without_a_deadline_breaks_it(book):
    book.service()
    book.submit("t1")
    book.deliver("t1", "EXPIRED")
    assert book.broken(ID) == ["t1 EXPIRED and had no deadline"]


def test_expired_before_it_was_due_breaks_it(book):
    held_run_ahead(book)
    book.now_ms = 49
    book.deliver("t2", "EXPIRED")
    assert book.broken(ID) == ["t2 EXPIRED 1 ms before it was due"]


def test_what_the_service_told_counts_from_then(book):
    held_run_ahead(book)
    book.now_ms = 20
    book.mark("ended", "clock", "t2", how="EXPIRED")
    book.now_ms = 60
    book.deliver("t2", "EXPIRED")
    assert book.broken(ID) == ["t2 EXPIRED 30 ms before it was due"]


def test_expired_while_it_waited_and_run_all_the_same_breaks_it(book):
    call = held_run_ahead(book)
    book.now_ms = 50
    end_run(book, call)
    book.run("t2")
    book.deliver("t2", "EXPIRED", expired_kind="queued")
    assert "t2 EXPIRED while it waited, and it ran" in book.broken(ID)


@pytest.mark.parametrize("kind", ["at-rest", "gate-opened"])
def test_a_wait_that_goes_on_at_rest_after_the_deadline_breaks_it(book, kind):
    held_run_ahead(book)
    book.begin("wait", "client", "t2", timeout_ms=-1)
    book.now_ms = 50
    book.mark(kind, "harness")
    assert book.broken(ID) == ["the deadline of t2 was over, nobody could move, and it had not EXPIRED"]


def test_a_wait_after_it_that_times_out_breaks_it(book):
    held_run_ahead(book)
    book.now_ms = 60
    book.mark("at-rest", "harness")
    call = book.begin("wait", "client", "t2", timeout_ms=10)
    book.now_ms = 70
    book.end(call, answer="timed-out")
    assert len(book.broken(ID)) == 1


def test_a_rest_before_the_deadline_shows_nothing(book):
    held_run_ahead(book)
    book.begin("wait", "client", "t2", timeout_ms=-1)
    book.now_ms = 49
    book.mark("at-rest", "harness")
    assert book.broken(ID) == []


def test_a_deadline_counts_from_some_moment_of_a_submit_that_took_long(book):
    book.service()
    call = book.begin("submit", task="t1", deadline_ms=50)
    book.now_ms = 40
    book.end(call, answer="accepted")
    book.begin("wait", "client", "t1", timeout_ms=-1)
    book.now_ms = 89
    book.mark("at-rest", "harness")
    assert book.broken(ID) == []


def test_a_start_after_the_deadline_on_a_worker_that_was_busy_until_then_breaks_it(book):
    call = held_run_ahead(book)
    book.now_ms = 50
    end_run(book, call)
    book.run("t2")
    assert book.broken(ID) == ["t2 was started after its deadline"]


def test_a_worker_that_was_free_before_may_have_started_it_in_time(book):
    call = held_run_ahead(book)
    end_run(book, call)
    book.now_ms = 60
    book.run("t2")
    assert book.broken(ID) == []


def test_a_late_run_that_succeeds_though_all_was_at_rest_breaks_it(book):
    book.service()
    book.submit("t1", deadline_ms=50)
    call = book.bind("t1")
    book.now_ms = 60
    book.mark("at-rest", "harness")
    end_run(book, call)
    book.deliver("t1")
    assert book.broken(ID) == ["the deadline of t1 was over, nobody could move, and it had not EXPIRED"]


def test_a_run_over_its_budget_whose_client_still_waits_breaks_it(book):
    book.service(run_budget_ms=50)
    book.submit("t1")
    book.begin("invoke", "w1", "t1", "s1", book.bind("t1"))
    book.begin("wait", "client", "t1", timeout_ms=-1)
    book.now_ms = 50
    book.mark("at-rest", "harness")
    assert book.broken(ID) == ["the run of t1 was over its budget, nobody could move, and the task had not ended"]


def test_a_run_over_its_budget_whose_task_failed_in_time_holds(book):
    book.service(run_budget_ms=50)
    book.submit("t1")
    call = book.bind("t1")
    book.now_ms = 60
    book.deliver("t1", "FAILED", error="RunBudgetError", foreign=False)
    book.mark("at-rest", "harness")
    end_run(book, call)
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_the_run_of_an_equal_request_that_waits_on_holds(book):
    book.service(overflow="coalesce")
    book.open()
    book.submit("t1", key=1, deadline_ms=100)
    book.submit("t2", key=1)
    book.now_ms = 200
    book.mark("at-rest")
    book.run("t1")
    book.deliver("t1", "EXPIRED", expired_kind="queued")
    book.deliver("t2", output="shared:t1")
    assert book.broken(ID) == []


def test_a_run_that_nobody_waited_for_breaks_it_though_an_equal_request_came(book):
    book.service(overflow="coalesce")
    book.open()
    book.submit("t1", key=1, deadline_ms=100)
    book.submit("t2", key=1, deadline_ms=100)
    book.now_ms = 200
    book.mark("at-rest")
    book.run("t1")
    book.deliver("t1", "EXPIRED", expired_kind="queued")
    book.deliver("t2", "EXPIRED", expired_kind="queued")
    assert book.broken(ID) == ["t1 EXPIRED while it waited, and it ran"]
