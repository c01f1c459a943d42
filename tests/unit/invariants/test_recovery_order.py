import pytest

ID = "recovery-order"


@pytest.fixture
def book(controlled):
    """What different threads did is in order in a controlled execution alone."""
    return controlled


def served(book, *, lifecycle=True, budget=50, **declared):
    book.service(workers=2, lifecycle=lifecycle, run_budget_ms=budget, **declared)
    book.open("s1", "w1", interruptible=True)


def hangs(book, task="t1", session="s1", thread="w1"):
    """A run that stays in invoke."""
    book.submit(task)
    call = book.bind(task, session, thread)
    book.begin("invoke", thread, task, session, call)
    return call


def gives_up(book, task="t1", session="s1", *, ask=True, after_ms=60):
    book.now_ms += after_ms
    if ask:
        book.mark("interrupt", "clock", session=session)
    book.deliver(task, "FAILED", error="BudgetError", foreign=False)


def comes_back(book, call):
    book.end(call, answer="ok")
    book.step(call, "fetch")


def loses(book, scope, task="t1", session="s1", thread="w1"):
    call = hangs(book, task, session, thread)
    book.end(call, answer="error", error="ContextLostError", scope=scope)
    book.deliver(task, "FAILED", error="ContextLostError", foreign=False)


def rebuilds(book, old="s1", new="s3", thread="w1"):
    book.release(old, thread)
    book.open(new, thread)


def told(book, *steps, slot="slot0", thread="w1"):
    for step in steps:
        book.mark("recovery-step", thread, slot=slot, step=step)


def test_a_time_out_in_order_is_accepted(book):
    served(book)
    call = hangs(book)
    gives_up(book)
    comes_back(book, call)
    rebuilds(book)
    book.submit("t2")
    book.run("t2", "s3")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 3, "the interrupt, the watchdog, and what came after"


def test_the_client_is_told_after_the_runtime_was_asked(book):
    served(book)
    hangs(book)
    gives_up(book, ask=False)
    book.mark("interrupt", "clock", session="s1")
    assert book.broken(ID) == [
        "t1 was told that its run takes too long before the runtime had been asked to end the call"
    ]


def cancelled_before_the_bind(book):
    served(book, budget=None)
    book.submit("t1")
    cancel = book.begin("cancel", "main", "t1")
    book.end(cancel, answer=True)
    book.mark("interrupt", "main", session="s1")
    call = book.bind("t1", "s1", "w1")
    book.begin("invoke", "w1", "t1", "s1", call)


def test_what_was_asked_before_the_bind_is_asked_again(book):
    cancelled_before_the_bind(book)
    book.mark("at-rest")
    assert book.broken(ID) == ["the runtime was asked to end the run of t1 before that was bound, and has forgotten it"]


def test_an_interrupt_after_the_bind_is_heard(book):
    cancelled_before_the_bind(book)
    book.mark("interrupt", "w1", session="s1")
    book.mark("at-rest")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 2, "the interrupt, and that it was not in vain"


def test_before_everybody_is_at_rest_somebody_may_still_ask(book):
    cancelled_before_the_bind(book)
    assert book.broken(ID) == []


def test_who_never_interrupts_forgets_nothing(book):
    served(book, budget=None)
    hangs(book)
    cancel = book.begin("cancel", "main", "t1")
    book.end(cancel, answer=True)
    book.mark("at-rest")
    assert book.broken(ID) == []


def test_a_runtime_that_cannot_be_asked_need_not_be(book):
    book.service(lifecycle=True, run_budget_ms=50)
    book.open("s1", "w1")
    hangs(book)
    gives_up(book, ask=False)
    assert book.broken(ID) == []


def test_at_rest_it_has_been_asked(book):
    served(book)
    hangs(book)
    book.now_ms = 60
    book.mark("at-rest")
    assert book.broken(ID) == ["the run of t1 takes too long, and the runtime was never asked to end the call"]


def test_an_interrupt_that_came_just_before_the_bind_counts(book):
    served(book)
    book.submit("t1")
    book.now_ms = 60
    book.mark("interrupt", "clock", session="s1")
    call = book.bind("t1")
    book.begin("invoke", "w1", "t1", "s1", call)
    book.now_ms = 120
    book.mark("at-rest")
    assert book.broken(ID) == []


def test_nobody_is_given_up_before_the_budget_is_over(book):
    served(book)
    hangs(book)
    gives_up(book, ask=False, after_ms=40)
    assert book.broken(ID) == ["t1 was failed before the budget of its run was over, with its call in flight"]


def test_an_interrupt_hits_the_run_that_was_given_up_and_no_other(book):
    served(book)
    book.submit("t2")
    call = book.bind("t2")
    book.begin("invoke", "w1", "t2", "s1", call)
    book.mark("interrupt", "clock", session="s1")
    book.end(call, answer="error", error="RunInterruptedError")
    book.deliver("t2", "FAILED", error="RunInterruptedError", foreign=False)
    assert book.broken(ID) == ["session s1 was interrupted during the run of t2, which nobody had given up"]


def test_an_interrupt_after_a_cancel_began_is_right(book):
    served(book)
    call = hangs(book)
    cancel = book.begin("cancel", "main", "t1")
    book.mark("interrupt", "main", session="s1")
    book.end(cancel, answer=True, cancel_kind="running")
    book.end(call, answer="error", error="RunInterruptedError")
    book.deliver("t1", "CANCELLED")
    assert book.broken(ID) == []


def test_a_run_that_was_interrupted_and_made_again_is_no_harm(book):
    served(book)
    call = hangs(book)
    book.mark("interrupt", "clock", session="s1")
    book.end(call, answer="error", error="RunInterruptedError")
    book.run("t1")
    book.deliver("t1")
    assert book.broken(ID) == []


def test_a_session_that_was_over_its_budget_is_not_used_again(book):
    served(book)
    call = hangs(book)
    gives_up(book)
    comes_back(book, call)
    book.submit("t2")
    book.run("t2")
    assert book.broken(ID) == ["session s1 was over its budget, and t2 was run on it all the same"]


def test_a_health_check_may_vouch_for_it(book):
    served(book)
    call = hangs(book)
    gives_up(book)
    comes_back(book, call)
    book.mark("health-check", "w1", session="s1", sound=True)
    book.submit("t2")
    book.run("t2")
    assert book.broken(ID) == []


def test_a_service_that_rebuilds_nothing_is_not_asked_to(book):
    served(book, lifecycle=False)
    call = hangs(book)
    gives_up(book, ask=False)
    comes_back(book, call)
    book.submit("t2")
    book.run("t2")
    assert book.broken(ID) == []


def test_a_lost_session_is_not_used_again(book):
    served(book)
    loses(book, "context")
    book.submit("t2")
    book.run("t2")
    assert book.broken(ID) == ["session s1 was lost, and t2 was run on it all the same"]


def test_nothing_is_opened_before_the_broken_one_is_released(book):
    served(book)
    loses(book, "context")
    book.open("s3", "w1")
    book.release("s1")
    assert book.broken(ID) == ["session s1 was lost, and another was opened before it was released"]


def test_another_place_may_open_meanwhile(book):
    served(book)
    loses(book, "context")
    book.open("s3", "w2")
    book.release("s1")
    assert book.broken(ID) == []


def neighbour(book, *, checked):
    served(book)
    book.open("s2", "w2")
    loses(book, "device")
    rebuilds(book)
    book.mark("at-rest")
    if checked:
        book.mark("health-check", "w2", session="s2", sound=True)
    book.submit("t2")
    book.run("t2", "s2", "w2")


def test_the_neighbours_of_a_lost_device_are_looked_at(book):
    neighbour(book, checked=False)
    (said,) = book.broken(ID)
    assert said.startswith(
        "session s1 was lost with its device, and when it had been replaced t2 was run on session s2,"
    )


def test_a_neighbour_that_was_asked_runs_on(book):
    neighbour(book, checked=True)
    assert book.broken(ID) == []


def test_a_neighbour_whose_worker_may_not_know_yet_runs_on(book):
    served(book)
    book.open("s2", "w2")
    loses(book, "device")
    rebuilds(book)
    book.submit("t2")
    book.run("t2", "s2", "w2")
    assert book.broken(ID) == []


def test_a_neighbour_that_was_busy_is_looked_at_before_its_next_run(book):
    served(book)
    book.open("s2", "w2")
    call = hangs(book, "t2", "s2", "w2")
    loses(book, "device")
    rebuilds(book)
    comes_back(book, call)
    book.submit("t3")
    book.run("t3", "s2", "w2")
    assert len(book.broken(ID)) == 1


def test_a_session_opened_since_is_no_neighbour(book):
    served(book)
    call = hangs(book)
    book.open("s2", "w2")
    book.end(call, answer="error", error="DeviceResetError", scope="device")
    rebuilds(book)
    book.mark("at-rest")
    book.submit("t2")
    book.run("t2", "s2", "w2")
    assert book.broken(ID) == []


def leased(book, task="t1"):
    book.service(lifecycle=True)
    book.open("s1")
    book.submit(task)
    book.mark("lease-begin", "w1", task, slot="slot0")


def test_steps_told_in_order_and_borne_out_are_accepted(book):
    leased(book)
    call = book.bind("t1")
    book.begin("invoke", "w1", "t1", "s1", call)
    told(book, "mark", thread="clock")
    book.mark("interrupt", "clock", session="s1")
    told(book, "ask", "isolate", "wake", thread="clock")
    book.end(call, answer="error")
    told(book, "confirm", "invalidate")
    book.release()
    told(book, "reclaim", "collect")
    book.open("s2")
    told(book, "rebuild", "neighbours", "mark", "confirm", "keep", "neighbours")
    assert book.broken(ID) == []


def test_a_step_told_too_early_or_late_breaks_it(book):
    leased(book)
    book.run("t1")
    told(book, "mark", "confirm", "invalidate")
    book.release()
    told(book, "reclaim")
    book.open("s2")
    told(book, "rebuild", "collect")
    assert book.broken(ID) == ["slot0 told rebuild and had not told collect", "slot0 told collect after rebuild"]


def test_what_was_not_seen_is_not_believed(book):
    leased(book)
    call = book.bind("t1")
    told(book, "mark", "ask", "isolate", "wake", "confirm", "invalidate", "reclaim", "collect")
    book.step(call, "invoke")
    told(book, "rebuild")
    assert book.broken(ID) == [
        "slot0 told ask, and no session had been interrupted",
        "slot0 told confirm, and the call of t1 had not returned",
        "slot0 told reclaim, and session s1 had not been released",
    ]


def test_a_slot_that_was_replaced_by_nothing_must_be_lost(book):
    leased(book)
    book.run("t1")
    told(book, "mark", "confirm", "invalidate")
    book.release()
    told(book, "reclaim", "collect", "rebuild")
    assert book.broken(ID) == ["slot0 told rebuild, and no session had been opened, and the slot was not lost"]


def test_told_steps_have_an_order_under_stress_too(stress):
    told(stress, "mark", "confirm", "invalidate", "collect", "reclaim")
    assert stress.broken(ID) == ["slot0 told reclaim after collect"]


def test_an_execution_with_nothing_to_recover_from_shows_nothing(book):
    served(book)
    book.submit("t1")
    book.run("t1")
    book.deliver("t1")
    assert book.judge(ID).checked == 0
