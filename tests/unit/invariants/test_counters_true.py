import pytest

ID = "counters-true"
NOTHING = {
    "accepted": 0, "waiting": 0, "running": 0, "live_tasks": 0, "buffers": 0, "expired": 0, "replaced": 0,
    "late_results": 0, "last_error": None,
}  # fmt: skip


@pytest.fixture
def queue(controlled):
    """A queue that tells what it takes, with its session open."""
    controlled.service(tells_dequeue=True)
    controlled.open()
    return controlled


def look(book, **told):
    call = book.begin("look", "main")
    book.end(call, answer="told", **{**NOTHING, **told})


def take(book, task):
    book.mark("dequeue", "w1", task)
    call = book.bind(task)
    return book.begin("invoke", "w1", task, "s1", call)


def give(book, call, task, answer="ok"):
    book.end(call, answer=answer)
    if answer == "ok":
        book.step(call, "fetch")
    del task


def end(book):
    book.mark("quiescent")


def test_nobody_looked(queue):
    end(queue)
    assert queue.judge(ID).checked == 0


def test_what_is_so_holds(queue):
    look(queue)
    queue.submit("t1")
    queue.submit("t2")
    call = take(queue, "t1")
    queue.mark("at-rest")
    look(queue, accepted=2, waiting=1, running=1, live_tasks=2, buffers=2, open_slots=1)
    queue.cancel("t2")
    look(queue, accepted=2, running=1, live_tasks=1, buffers=1)
    give(queue, call, "t1")
    queue.deliver("t1", via="result")
    queue.deliver("t2", "CANCELLED", via="result")
    queue.close()
    look(queue, accepted=2, open_slots=0)
    end(queue)
    assert queue.broken(ID) == []
    assert queue.judge(ID).checked == 4


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("accepted", 1, "accepted 1, and it was 2"),
        ("waiting", 2, "waiting 2, and it was 1"),
        ("running", 0, "running 0, and it was 1"),
        ("live_tasks", 3, "live_tasks 3, and it was 2"),
        ("buffers", 1, "buffers 1, and it was 2"),
        ("expired", 1, "expired 1, and it was 0"),
        ("replaced", 1, "replaced 1, and it was 0"),
        ("late_results", 1, "late_results 1, and it was 0"),
        ("open_slots", 0, "open_slots 0, and it was 1"),
    ],
)
def test_each_counter_is_compared(queue, name, value, says):
    queue.submit("t1")
    queue.submit("t2")
    call = take(queue, "t1")
    queue.mark("at-rest")
    told = {"accepted": 2, "waiting": 1, "running": 1, "live_tasks": 2, "buffers": 2, "open_slots": 1}
    look(queue, **{**told, name: value})
    give(queue, call, "t1")
    queue.cancel("t2")
    queue.deliver("t1", via="result")
    queue.deliver("t2", "CANCELLED", via="result")
    end(queue)
    assert any(f"the service said {says}" in message for message in queue.broken(ID))


@pytest.mark.parametrize("counted", [0, 1])
def test_a_submit_that_overlaps_the_look_may_count_or_not(queue, counted):
    submit = queue.begin("submit", "other", "t1")
    look(queue, accepted=counted, waiting=counted, live_tasks=counted, buffers=counted)
    queue.end(submit, answer="accepted")
    give(queue, take(queue, "t1"), "t1")
    queue.deliver("t1", via="result")
    end(queue)
    assert queue.broken(ID) == []


@pytest.mark.parametrize("live", [0, 1])
def test_a_task_whose_run_is_over_may_have_ended_before_anybody_sees_it(queue, live):
    queue.submit("t1")
    give(queue, take(queue, "t1"), "t1")
    look(queue, accepted=1, running=live, live_tasks=live, buffers=live)
    queue.deliver("t1", via="result")
    end(queue)
    assert queue.broken(ID) == []


def test_a_cancelled_run_has_its_buffers_until_its_call_returns(queue):
    queue.submit("t1")
    call = take(queue, "t1")
    queue.cancel("t1", "running")
    look(queue, accepted=1, running=1, buffers=0)
    give(queue, call, "t1")
    queue.deliver("t1", "CANCELLED", via="result")
    end(queue)
    assert queue.broken(ID) == ["the service said buffers 0, and it was 1"]


def test_a_result_that_came_too_late_is_counted_by_the_next_rest(queue):
    queue.submit("t1")
    call = take(queue, "t1")
    queue.cancel("t1", "running")
    give(queue, call, "t1")
    look(queue, accepted=1)
    queue.mark("at-rest")
    look(queue, accepted=1, open_slots=1)
    queue.deliver("t1", "CANCELLED", via="result")
    end(queue)
    assert queue.broken(ID) == ["the service said late_results 0, and it was 1"]


def test_a_task_is_in_the_queue_or_on_a_slot_and_not_in_both(queue):
    queue.submit("t1")
    call = queue.begin("look")
    invoke = take(queue, "t1")
    queue.end(
        call, answer="told", **{**NOTHING, "accepted": 1, "waiting": 1, "running": 1, "live_tasks": 1, "buffers": 1}
    )
    give(queue, invoke, "t1")
    queue.deliver("t1", via="result")
    end(queue)
    assert queue.broken(ID) == ["the service said waiting 1 and running 1, and it had 1 to 1 tasks"]


def failed(book, task, error):
    book.submit(task)
    give(book, take(book, task), task, "error")
    book.deliver(task, "FAILED", error=error, foreign=False, via="result")


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ("RunError", []),
        ("OtherError", ["the service said that the last error was OtherError, and it was RunError"]),
        (None, ["the service said that no task had failed, and t2 was FAILED"]),
    ],
)
def test_the_last_error_is_that_of_the_last_task_that_failed(queue, told, says):
    failed(queue, "t1", "OtherError")
    failed(queue, "t2", "RunError")
    look(queue, accepted=2, last_error=told)
    end(queue)
    assert queue.broken(ID) == says


def test_an_error_that_nobody_had_is_none(queue):
    look(queue, last_error="RunError")
    end(queue)
    assert queue.broken(ID) == ["the service said that the last error was RunError, and it was none"]


def test_an_expired_task_is_counted_and_has_an_error_of_any_class(queue):
    queue.submit("t1", deadline_ms=5)
    queue.now_ms = 6
    queue.deliver("t1", "EXPIRED", expired_kind="queued", via="result")
    look(queue, accepted=1, expired=1, last_error="LateError")
    look(queue, accepted=1, expired=0, last_error="LateError")
    end(queue)
    assert queue.broken(ID) == ["the service said expired 0, and it was 1"]


def test_nothing_is_left_after_close(queue):
    queue.release()
    queue.close()
    look(queue, open_slots=1)
    end(queue)
    assert queue.broken(ID) == ["the service said open_slots 1, and it was 0"]


def test_counters_that_raise_break_it(queue):
    queue.end(queue.begin("look"), answer="raised", error="KeyError")
    end(queue)
    assert queue.broken(ID) == ["a look at the service raised KeyError"]


def test_what_was_not_seen_to_its_end_is_unknown(queue):
    queue.submit("t1")
    look(queue, accepted=1, waiting=1, live_tasks=1, buffers=1)
    assert "ended before" in queue.judge(ID).unknown


def test_under_stress_it_is_unknown(stress):
    stress.service()
    look(stress)
    end(stress)
    assert "controlled" in stress.judge(ID).unknown
