from harness.invariants.index import Index
from harness.invariants.one_task_per_session import shared_sessions

ID = "one-task-per-session"


def shared(book, **attrs):
    book.open(**attrs)
    call = book.bind("t1")
    book.run("t2", thread="w2")
    book.step(call, "invoke")


def test_one_after_the_other_holds(book):
    book.open()
    book.run("t1")
    book.run("t2")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 2


def test_two_at_once_break_it(book):
    shared(book)
    assert book.broken(ID) == ["session s1 had two runs at once: t1 on w1 and t2 on w2"]


def test_two_runs_of_inputs_that_nobody_submitted_break_it(book):
    book.open()
    call = book.bind(None, unattributed=True)
    book.run(None, thread="w2", unattributed=True)
    book.step(call, "invoke")
    assert len(book.broken(ID)) == 1


def test_a_session_that_allows_it_is_a_finding(book):
    shared(book, sharing="concurrent-run")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 2
    assert shared_sessions(Index(book.history())) == ("s1",)


def test_two_sessions_at_once_hold(book):
    book.open("s1")
    book.open("s2", "w2")
    call = book.bind("t1", "s1")
    book.run("t2", "s2", "w2")
    book.step(call, "invoke")
    assert book.broken(ID) == []


def test_a_run_that_was_given_up_after_bind_does_not_last(book):
    book.open()
    book.bind("t1")
    book.run("t2")
    assert book.broken(ID) == []


def test_a_slot_leased_twice_breaks_it(book):
    book.run("t1")
    book.mark("lease-begin", "w1", "t1", slot="0")
    book.mark("lease-begin", "w2", "t2", slot="1")
    book.mark("lease-end", "w1", slot="0")
    book.mark("lease-begin", "w1", "t3", slot="0")
    assert book.broken(ID) == []
    book.mark("lease-begin", "w2", "t4", slot="0")
    assert book.broken(ID) == ["slot 0 was leased to t4 while t3 had it"]
