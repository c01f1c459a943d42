import pytest

ID = "capacity"


def held(book, task="t1", thread="w1"):
    """Start a run and leave it inside invoke."""
    call = book.bind(task, thread=thread)
    book.begin("invoke", thread, task, "s1", call)
    return call


def test_a_full_queue_that_refuses_holds(book):
    book.service(capacity=1)
    book.submit("t1")
    held(book)
    book.submit("t2")
    book.submit("t3", "refused", refusal="full")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_one_too_many_with_every_worker_inside_invoke_breaks_it(controlled):
    controlled.service(capacity=1)
    controlled.submit("t1")
    held(controlled)
    controlled.submit("t2")
    controlled.submit("t3")
    assert controlled.broken(ID) == ["2 tasks waited (t2, t3) in a queue for 1"]


def test_an_idle_worker_may_hold_one_that_it_has_not_bound(book):
    book.service(capacity=1)
    book.submit("t1")
    book.submit("t2")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1
    book.submit("t3")
    assert book.broken(ID) == ["3 tasks waited (t1, t2, t3) in a queue for 1"]


def test_each_worker_that_is_not_running_may_hold_one(controlled):
    controlled.service(capacity=1, workers=2)
    controlled.submit("t1")
    held(controlled)
    controlled.submit("t2")
    controlled.submit("t3")
    assert controlled.broken(ID) == []
    controlled.submit("t4")
    assert len(controlled.broken(ID)) == 1


def test_under_stress_no_worker_is_known_to_be_running(stress):
    stress.service(capacity=1)
    stress.submit("t1")
    held(stress)
    stress.submit("t2")
    stress.submit("t3")
    assert stress.broken(ID) == []


def test_a_service_that_tells_is_held_to_its_word(book):
    book.service(capacity=1, tells_dequeue=True)
    book.submit("t1")
    book.mark("dequeue", "w1", "t1")
    book.submit("t2")
    assert book.broken(ID) == []
    book.submit("t3")
    assert book.broken(ID) == ["2 tasks waited (t2, t3) in a queue for 1"]


def test_a_service_that_says_it_tells_and_does_not_is_judged_like_others(book):
    book.service(capacity=1, tells_dequeue=True)
    book.submit("t1")
    book.submit("t2")
    assert book.broken(ID) == []


def test_a_submit_that_overlaps_the_start_of_a_task_holds(book):
    book.service(capacity=1, tells_dequeue=True)
    book.submit("t1")
    call = book.begin("submit", "other", "t2")
    book.mark("dequeue", "w1", "t1")
    book.end(call, answer="accepted")
    assert book.broken(ID) == []


def test_a_task_told_as_taken_before_its_submit_returned_holds(book):
    book.service(capacity=1, tells_dequeue=True)
    call = book.begin("submit", "other", "t1")
    book.mark("dequeue", "w1", "t1")
    book.submit("t2")
    book.end(call, answer="accepted")
    assert book.broken(ID) == []


def test_a_cancel_in_progress_may_have_made_room(book):
    book.service(capacity=1, tells_dequeue=True)
    book.submit("t0")
    book.mark("dequeue", "w1", "t0")
    book.submit("t1")
    call = book.begin("cancel", "other", "t1")
    book.submit("t2")
    book.end(call, answer=True, cancel_kind="queued")
    assert book.broken(ID) == []


def test_a_refusal_with_room_breaks_it(book):
    book.service(capacity=1)
    book.submit("t1", "refused", refusal="full")
    assert book.broken(ID) == ["t1 was refused as full with at most 0 tasks waiting in a queue for 1"]


@pytest.mark.parametrize("answered", [True, False])
def test_a_submit_in_progress_may_have_taken_the_room(book, answered):
    book.service(capacity=1)
    call = book.begin("submit", "other", "t1")
    book.submit("t2", "refused", refusal="full")
    if answered:
        book.end(call, answer="accepted")
    assert book.broken(ID) == []


def test_a_cancelled_task_may_keep_its_place_in_a_plain_queue(book):
    book.service(capacity=1)
    book.submit("t1")
    book.cancel("t1")
    book.submit("t2", "refused", refusal="full")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []


def test_but_not_where_the_service_tells_what_it_takes(book):
    book.service(capacity=1, tells_dequeue=True)
    book.submit("t0")
    book.mark("dequeue", "w1", "t0")
    book.submit("t1")
    book.cancel("t1")
    book.submit("t2", "refused", refusal="full")
    assert len(book.broken(ID)) == 1


def test_a_closing_service_may_refuse_as_it_likes(book):
    book.service(capacity=1)
    call = book.begin("service-close", "closer")
    book.submit("t1", "refused", refusal="full")
    book.end(call, answer="returned")
    assert book.broken(ID) == []


def test_tasks_dropped_by_a_close_are_not_counted_as_waiting(book):
    book.service(capacity=1)
    for task in ("t1", "t2", "t3"):
        book.submit(task)
        book.deliver(task, "FAILED", error="ModelLoadError", foreign=False)
    assert book.broken(ID) == []


def test_a_cancel_of_what_a_switch_had_ended_says_true_and_freed_nothing(controlled):
    controlled.service(capacity=1)
    controlled.submit("t1")
    held(controlled)
    controlled.submit("t2")
    controlled.end(controlled.begin("model-switch", version="v2", pending="cancel"), answer="switched")
    controlled.submit("t3")
    controlled.cancel("t2")
    controlled.deliver("t2", "CANCELLED")
    assert controlled.broken(ID) == []


def test_a_submit_that_never_returns_breaks_it(book):
    book.service(capacity=1)
    book.begin("submit", "other", "t1")
    assert book.broken(ID) == []
    book.mark("quiescent")
    assert book.broken(ID) == ["submit of t1 never returned"]


def test_a_submit_that_waits_for_a_gate_breaks_it(controlled):
    controlled.service(capacity=1)
    controlled.submit("t1")
    run = held(controlled)
    controlled.submit("t2")
    call = controlled.begin("submit", "other", "t3")
    controlled.mark("gate-opened", "harness", point="invoke")
    controlled.end(run, answer="ok")
    controlled.end(call, answer="accepted")
    assert "submit of t3 waited until the harness let a held call go" in controlled.broken(ID)


def test_a_submit_that_is_itself_at_the_gate_does_not(controlled):
    controlled.service(capacity=0)
    call = controlled.begin("submit", "other", "t1")
    controlled.mark("held", "other", point="session-open")
    controlled.mark("gate-opened", "harness", point="session-open")
    controlled.end(call, answer="accepted")
    assert controlled.broken(ID) == []


def test_a_dequeue_of_a_task_whose_submit_never_returned_is_passed_over(book):
    book.service(capacity=1, tells_dequeue=True)
    book.begin("submit", "other", "t1")
    book.mark("dequeue", "w1")
    assert book.judge(ID).unknown == ""


def test_a_service_without_a_bound_is_not_judged(book):
    book.service(capacity=-1)
    for task in ("t1", "t2", "t3", "t4"):
        book.submit(task)
    assert book.judge(ID).checked == 0


def test_runs_of_unknown_inputs_leave_it_unknown(book):
    book.service(capacity=1)
    for task in ("t1", "t2", "t3"):
        book.submit(task)
        book.run(None, unattributed=True)
    judgement = book.judge(ID)
    assert judgement.violations == ()
    assert "nobody submitted" in judgement.unknown


def test_a_malformed_input_that_the_runtime_never_saw_hides_nothing(book):
    book.service(capacity=1)
    book.submit("t1", malformed=True)
    book.bind(None, reached=False, unattributed=True)
    book.submit("t2")
    book.submit("t3", "refused", refusal="full")
    assert book.judge(ID).unknown == ""


def test_a_class_has_its_own_bound(controlled):
    controlled.service(4, tells_dequeue=True)
    controlled.declare("background", capacity=1)
    controlled.submit("t1")
    controlled.mark("dequeue", "w1", "t1")
    controlled.submit("t2", **{"class": "background"})
    controlled.submit("t3", **{"class": "background"})
    assert controlled.broken(ID) == ["2 tasks waited (t2, t3) in a queue for 1"]


def test_a_class_that_is_full_may_refuse_while_there_is_room_for_others(book):
    book.service(4)
    book.declare("background", capacity=1)
    book.submit("t1", **{"class": "background"})
    book.submit("t2", "refused", refusal="full", **{"class": "background"})
    book.submit("t3")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_class_with_room_may_not_refuse(book):
    book.service(4)
    book.declare("background", capacity=2)
    book.submit("t1", **{"class": "background"})
    book.submit("t2", "refused", refusal="full", **{"class": "background"})
    assert len(book.broken(ID)) == 1


def test_the_newest_replaces_one_that_waited(book):
    book.service(1, overflow="replace-oldest")
    book.submit("t1")
    book.submit("t2")
    book.deliver("t1", "REPLACED")
    assert book.broken(ID) == []
    assert book.judge(ID).checked >= 1


def test_replaced_in_a_class_that_does_not_replace_breaks_it(book):
    book.service(1)
    book.submit("t1")
    book.submit("t2")
    book.deliver("t1", "REPLACED")
    assert "t1 was REPLACED, and its class does not replace" in book.broken(ID)


def test_replaced_though_it_was_started_breaks_it(book):
    book.service(1, overflow="replace-oldest")
    book.submit("t1")
    book.run("t1")
    book.submit("t2")
    book.deliver("t1", "REPLACED")
    assert book.broken(ID) == ["t1 was REPLACED although it was started"]


def test_replaced_by_nobody_breaks_it(book):
    book.service(1, overflow="keep-latest")
    book.submit("t1")
    book.submit("t2", "refused", refusal="closed")
    book.deliver("t1", "REPLACED")
    assert book.broken(ID) == ["t1 was REPLACED, and no newer task of its class was accepted"]


def test_replaced_by_a_submit_that_overlapped_its_own_holds(book):
    book.service(1, overflow="keep-latest")
    newer = book.begin("submit", "a", "t2")
    book.submit("t1")
    book.end(newer, answer="accepted")
    book.deliver("t1", "REPLACED")
    assert book.broken(ID) == []


def test_refused_where_a_waiting_task_had_to_give_way_breaks_it(book):
    book.service(1, overflow="replace-oldest")
    book.submit("t1")
    book.submit("t2", "refused", refusal="full")
    assert book.broken(ID) == ["t2 was refused as full, and t1 waited to be replaced"]


def test_two_tasks_that_wait_where_the_latest_alone_may_break_it(controlled):
    controlled.service(4, tells_dequeue=True, overflow="keep-latest")
    controlled.submit("t1")
    controlled.mark("dequeue", "w1", "t1")
    controlled.submit("t2")
    controlled.submit("t3")
    assert controlled.broken(ID) == ["2 tasks waited (t2, t3) in a queue for 1"]


def test_requests_that_joined_take_one_place(controlled):
    controlled.service(1, tells_dequeue=True, overflow="coalesce")
    controlled.submit("t1")
    controlled.mark("dequeue", "w1", "t1")
    controlled.submit("t2", key=1)
    controlled.submit("t3", key=1)
    assert controlled.broken(ID) == []


def test_refused_where_it_could_have_joined_breaks_it(book):
    book.service(1, overflow="coalesce")
    book.submit("t1", key=1)
    book.submit("t2", "refused", refusal="full", key=1)
    book.submit("t3", "refused", refusal="full", key=2)
    assert book.broken(ID) == ["t2 was refused as full, and could have joined t1"]


def blocked(book, timeout_ms):
    book.service(1, overflow="block")
    book.submit("t1")
    return book.begin("submit", "batch", "t2", timeout_ms=timeout_ms)


def test_a_client_that_waits_for_a_place_within_its_time_holds(controlled):
    call = blocked(controlled, 50)
    controlled.now_ms = 40
    controlled.mark("at-rest", "harness")
    controlled.now_ms = 50
    controlled.end(call, answer="refused", refusal="full")
    assert controlled.broken(ID) == []


def test_a_client_that_waits_longer_than_it_may_breaks_it(controlled):
    call = blocked(controlled, 50)
    controlled.now_ms = 90
    controlled.mark("at-rest", "harness")
    controlled.end(call, answer="refused", refusal="full")
    assert controlled.broken(ID) == ["submit of t2 waited until nobody could move"]


def test_a_client_that_is_refused_before_its_time_is_over_breaks_it(book):
    call = blocked(book, 50)
    book.now_ms = 10
    book.end(call, answer="refused", refusal="full")
    assert book.broken(ID) == ["t2 was refused as full before it had waited for a place"]


def test_a_client_that_waits_without_a_limit_may_wait_for_ever(book):
    blocked(book, -1)
    book.mark("quiescent")
    assert book.broken(ID) == []


def test_an_expired_task_of_a_service_that_tells_frees_its_place(book):
    book.service(1, tells_dequeue=True)
    book.submit("t1")
    book.mark("dequeue", "w1", "t1")
    book.submit("t2", deadline_ms=50)
    book.now_ms = 50
    book.deliver("t2", "EXPIRED")
    book.submit("t3", "refused", refusal="full")
    assert len(book.broken(ID)) == 1
