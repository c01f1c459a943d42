import pytest

ID = "no-delivery-after-cancel"


def test_a_cancelled_task_that_ends_cancelled_holds(book):
    book.submit("t1")
    book.cancel("t1")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


@pytest.mark.parametrize("outcome", ["SUCCEEDED", "FAILED"])
def test_a_delivery_after_cancel_breaks_it(book, outcome):
    book.submit("t1")
    book.cancel("t1")
    book.deliver("t1", outcome)
    assert book.broken(ID) == [f"cancel() of t1 answered True, and t1 {outcome}"]


def test_a_task_that_was_not_cancelled_and_ends_cancelled_breaks_it(book):
    book.submit("t1")
    book.cancel("t1", answer=False)
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == ["cancel() of t1 answered False, and t1 was CANCELLED with no other cause"]


def test_a_cancel_that_a_running_task_refused_counts(book):
    book.submit("t1")
    call = book.bind("t1")
    book.cancel("t1", answer=False)
    book.step(call, "invoke")
    book.deliver("t1")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_cancel_that_answered_false_on_a_task_that_never_ran_is_no_premise(book):
    book.submit("t1")
    book.cancel("t1", answer=False)
    book.deliver("t1")
    assert book.judge(ID).checked == 0


def test_another_cancel_in_progress_explains_it(book):
    book.submit("t1")
    book.begin("cancel", "other", "t1")
    book.cancel("t1", answer=False)
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []


@pytest.mark.parametrize("drain", [False, None])
def test_a_close_that_may_drop_tasks_explains_it(book, drain):
    book.submit("t1")
    book.cancel("t1", answer=False)
    book.close(drain)
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []


def test_a_close_that_drains_explains_only_a_submit_that_it_overlaps(book):
    book.submit("t1")
    inside = book.begin("submit", "other", "t2")
    close = book.begin("service-close", drain=True)
    book.end(inside, answer="accepted")
    book.cancel("t1", answer=False)
    book.cancel("t2", answer=False)
    book.end(close, answer="returned")
    book.deliver("t1", "CANCELLED")
    book.deliver("t2", "CANCELLED")
    assert book.broken(ID) == ["cancel() of t1 answered False, and t1 was CANCELLED with no other cause"]


def test_a_close_that_came_too_late_explains_nothing(book):
    book.submit("t1")
    book.cancel("t1", answer=False)
    book.deliver("t1", "CANCELLED")
    book.close(drain=False)
    assert len(book.broken(ID)) == 1


def test_a_service_that_says_that_it_closed_itself_explains_it(book):
    book.submit("t1")
    book.mark("state", "w1", state="draining")
    book.cancel("t1", answer=False)
    book.deliver("t1", "CANCELLED")
    book.close(drain=True)
    assert book.broken(ID) == []


def test_cancelled_as_queued_while_it_ran_breaks_it(book):
    book.submit("t1")
    run = book.bind("t1")
    book.step(run, "invoke")
    book.cancel("t1")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == ["t1 was cancelled as queued, and it was running already"]


def test_an_invoke_in_progress_is_ordered_with_a_cancel_only_in_a_controlled_execution(controlled, stress):
    for book in (controlled, stress):
        book.submit("t1")
        run = book.bind("t1")
        book.begin("invoke", "w1", "t1", "s1", run)
        book.cancel("t1")
        book.end(run, answer="ok")
        book.deliver("t1", "CANCELLED")
    assert len(controlled.broken(ID)) == 1
    assert stress.broken(ID) == []


def test_cancelled_as_queued_and_run_afterwards_breaks_it(book):
    book.submit("t1")
    book.cancel("t1")
    book.run("t1")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == ["t1 was cancelled as queued, and it ran afterwards"]


def test_an_invoke_that_begins_during_the_cancel_may_have_been_first(book):
    book.submit("t1")
    cancel = book.begin("cancel", task="t1")
    book.run("t1")
    book.end(cancel, answer=True, cancel_kind="queued")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []


def test_a_running_cancel_of_a_task_that_was_never_bound_holds(book):
    book.service()
    book.submit("t1")
    book.cancel("t1", kind="running")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []


def test_a_service_with_running_cancel_must_say_which_it_was(book):
    book.service(running_cancel=True)
    book.submit("t1")
    book.cancel("t1", kind=None)
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == ["cancel() of t1 answered True and did not say whether it was queued or running"]


def test_a_cancel_of_what_a_close_had_dropped_need_not_say(book):
    book.service(running_cancel=True)
    book.submit("t1")
    book.begin("service-close", "closer", drain=False)
    book.cancel("t1", kind=None)
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []


def test_a_plain_future_need_not_say(book):
    book.service(running_cancel=False)
    book.submit("t1")
    book.cancel("t1", kind=None)
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []


def test_a_run_of_an_unknown_input_leaves_a_queued_cancel_unknown(book):
    book.submit("t1")
    book.cancel("t1")
    book.run(None, unattributed=True)
    book.deliver("t1", "CANCELLED")
    judgement = book.judge(ID)
    assert judgement.violations == ()
    assert "nobody submitted" in judgement.unknown


def test_a_cancel_that_says_true_and_a_task_that_expired_break_it(book):
    book.submit("t1", deadline_ms=0)
    book.cancel("t1")
    book.deliver("t1", "EXPIRED")
    assert book.broken("no-delivery-after-cancel") == ["cancel() of t1 answered True, and t1 EXPIRED"]


def test_a_cancel_that_says_false_and_a_task_that_expired_hold(book):
    book.submit("t1", deadline_ms=0)
    book.cancel("t1", answer=False)
    book.deliver("t1", "EXPIRED")
    assert book.broken("no-delivery-after-cancel") == []
    assert book.judge("no-delivery-after-cancel").checked == 1


def test_a_run_for_others_that_joined_is_not_that_of_the_one_who_cancelled(book):
    book.submit("t1", key=1)
    book.submit("t2", key=1)
    book.cancel("t1")
    book.run("t1")
    book.deliver("t2", output="shared:t1")
    assert book.broken("no-delivery-after-cancel") == []


def test_a_close_that_drains_for_a_time_explains_a_cancelled_task(book):
    book.submit("t1")
    book.cancel("t1", answer=False)
    close = book.begin("service-close", drain=True, deadline_ms=50)
    book.deliver("t1", "CANCELLED")
    book.end(close, answer="returned", reentrant=False)
    assert book.broken("no-delivery-after-cancel") == []
