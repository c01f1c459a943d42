import pytest

ID = "fault-contained"
ELSEWHERE = "s2"


def struck(book, task="t1", session="s1", scope="request", point="invoke", fault="run-failure", **attrs):
    """A run that a fault ends."""
    call = book.bind(task, session)
    book.begin(point, "w1", task, session, call)
    book.mark("fault-injected", "w1", task, session, fault=fault, point=point, scope=scope, **attrs)
    book.end(call, answer="error", error="RunError")


def two(book, **fault):
    book.service(workers=2)
    book.submit("t1")
    book.submit("t2")
    struck(book, **fault)
    book.deliver("t1", "FAILED", error="RunError", foreign=False)


@pytest.mark.parametrize("scope", ["request", "context"])
def test_a_neighbour_that_succeeds_keeps_it(book, scope):
    two(book, scope=scope)
    book.run("t2", ELSEWHERE)
    book.deliver("t2")
    book.mark("quiescent")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_task_that_had_ended_before_is_no_neighbour(book):
    book.submit("t2")
    book.run("t2")
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    book.submit("t1")
    struck(book)
    assert book.judge(ID).checked == 0


def test_a_neighbour_that_fails_before_it_ran_breaks_it(book):
    two(book)
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert book.broken(ID) == ["run-failure struck t1, with scope request, and t2 failed"]


def test_a_neighbour_that_is_cancelled_unasked_breaks_it(book):
    two(book)
    book.deliver("t2", "CANCELLED")
    assert book.broken(ID) == ["run-failure struck t1, with scope request, and t2 was cancelled"]


def test_a_neighbour_whose_run_gave_its_outputs_and_that_fails_breaks_it(book):
    two(book, scope="context", fault="close-failure")
    book.run("t2")
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert book.broken(ID) == ["close-failure struck t1, with scope context, and t2 failed"]


def test_a_neighbour_that_is_given_another_output_breaks_it(book):
    two(book)
    book.run("t2", ELSEWHERE)
    book.deliver("t2", output="garbage")
    assert book.broken(ID) == ["run-failure struck t1, with scope request, and t2 was given what is not its own"]


def test_a_neighbour_that_never_ends_breaks_it(book):
    two(book, scope="context")
    book.mark("quiescent")
    book.mark("pending", "main", "t2")
    assert book.broken(ID) == ["run-failure struck t1, with scope context, and t2 never ended"]


def test_a_run_given_up_elsewhere_breaks_it(book):
    two(book, scope="context")
    book.bind("t2", ELSEWHERE)
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert len(book.broken(ID)) == 1


def test_a_run_given_up_on_the_session_that_was_struck_keeps_it(book):
    two(book, scope="context")
    book.bind("t2")
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert book.broken(ID) == []


def test_a_task_that_waited_for_a_context_that_is_gone_may_fail(book):
    two(book, scope="context")
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert book.broken(ID) == []


def test_a_step_of_its_own_that_failed_explains_a_failure(book):
    two(book)
    call = book.bind("t2", ELSEWHERE)
    book.begin("invoke", "w1", "t2", ELSEWHERE, call)
    book.end(call, answer="error")
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert book.broken(ID) == []


@pytest.mark.parametrize("how", ["closing", "cancelled", "no session opened", "waited long"])
def test_what_else_may_have_ended_it_is_no_harm(book, how):
    two(book)
    if how == "closing":
        book.close(drain=False)
    elif how == "cancelled":
        book.cancel("t2")
    elif how == "no session opened":
        book.open(ELSEWHERE, answer="error")
    else:
        book.now_ms += 2_000
    if how == "cancelled":
        book.deliver("t2", "CANCELLED")
    else:
        book.deliver("t2", "FAILED", error="ClosedError", foreign=False)
    assert book.broken(ID) == []


def test_a_task_that_shares_the_run_of_the_one_struck_fails_with_it(book):
    book.service()
    book.submit("t1", key=1)
    book.submit("t2", key=1)
    struck(book)
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert book.judge(ID).checked == 0


@pytest.mark.parametrize("scope", ["device", "process"])
def test_what_may_harm_everything_is_not_judged(book, scope):
    two(book, scope=scope)
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert book.judge(ID).checked == 0
    assert book.broken(ID) == []


def test_whose_a_batched_run_was_is_not_known(book):
    two(book, task=None)
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert book.judge(ID).unknown
    assert book.broken(ID) == []


def test_a_task_that_runs_in_a_batch_is_not_taken_for_one_that_never_ran(book):
    two(book)
    book.run(None, ELSEWHERE)
    book.deliver("t2", "FAILED", error="RunError", foreign=False)
    assert book.broken(ID) == []


def test_what_a_fault_made_of_a_task_s_own_outputs_is_its_own(book):
    two(book, fault="nan-output", point="fetch")
    book.run("t2", ELSEWHERE)
    book.deliver("t2", output="injected:nan")
    assert book.broken(ID) == []


def tried(book, times):
    book.service()
    book.open()
    book.submit("t1")
    call = book.bind("t1")
    book.submit("t2")
    for again in range(times):
        attrs = {"again": True} if again else {}
        book.mark("fault-injected", "w1", "t1", "s1", fault="poison-request", point="invoke", scope="request", **attrs)
        book.begin("invoke", "w1", "t1", "s1", call)
        book.end(call, answer="error", error="RunError")
        call = book.bind("t1")


def test_who_waits_for_a_hundred_tries_of_another_is_harmed(book):
    tried(book, 120)
    assert book.broken(ID) == ["t1, which a fault struck, was tried 100 times while t2 waited"]


def test_a_few_tries_of_another_harm_nobody(book):
    tried(book, 90)
    assert book.broken(ID) == []


def look(book, moment="after", fresh="match", in_flight="match"):
    book.mark("process-look", "harness", moment=moment, fresh=fresh, in_flight=in_flight)


@pytest.mark.parametrize("scope", ["request", "context", "process", "device"])
def test_another_process_that_is_served_rightly_keeps_it(book, scope):
    two(book, scope=scope)
    book.run("t2", ELSEWHERE)
    book.deliver("t2")
    look(book, "held", fresh="waits")
    look(book)
    assert book.broken(ID) == []
    assert book.judge(ID).checked == (4 if scope in {"process", "device"} else 5)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("garbage", "was given what is not its own"),
        ("wrong-shape", "was given what is not its own"),
        ("other", "was given another request's outputs"),
        ("silent", "and a second one were not served any more"),
        ("died", "and a second one died"),
        ("error:RunError", "failed with RunError"),
    ],
)
@pytest.mark.parametrize("scope", ["request", "context", "process", "device"])
@pytest.mark.parametrize("which", ["fresh", "in_flight"])
def test_another_process_that_is_not_breaks_it(book, answer, says, scope, which):
    two(book, scope=scope)
    look(book, **{which: answer})
    may_be = scope == "device" and not says.startswith("was given")
    expected = f"run-failure struck t1, with scope {scope}, and afterwards another process {says}"
    assert book.broken(ID) == ([] if may_be else [expected])


def test_wrong_outputs_count_while_a_call_is_held(book):
    two(book, scope="context")
    look(book, "held", fresh="garbage")
    (said,) = book.broken(ID)
    assert said.endswith("with scope context, and while a call was held another process was given what is not its own")


@pytest.mark.parametrize("answer", ["late", "lost"])
def test_what_a_slow_machine_may_do_is_unknown(book, answer):
    two(book)
    look(book, fresh=answer)
    assert book.broken(ID) == []
    assert "a slow machine may do that" in book.judge(ID).unknown


def test_a_process_that_was_looked_at_before_the_fault_or_without_one_says_nothing(book):
    book.service()
    look(book, fresh="garbage")
    assert book.judge(ID).checked == 0
    book.submit("t1")
    struck(book)
    assert book.broken(ID) == []


def test_looks_do_not_stand_in_for_the_tasks_that_a_scenario_meant_to_have(book):
    book.submit("t1")
    struck(book)
    look(book)
    assert book.judge(ID).checked == 0
