ID = "owner-thread"


def test_one_thread_holds(book):
    book.open()
    book.run("t1")
    book.run("t2")
    book.release()
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_two_threads_at_once_break_it(book):
    book.open()
    call = book.bind("t1")
    book.run("t2", thread="w2", handover="ordered")
    book.step(call, "invoke")
    assert book.broken(ID) == ["w1 and w2 had calls on session s1 at once"]


def test_a_close_by_another_thread_during_a_run_breaks_it(book):
    book.open()
    call = book.bind("t1")
    book.release(thread="main")
    book.step(call, "invoke")
    assert book.broken(ID) == ["main closed session s1 while w1 was using it"]


def test_a_handover_that_nothing_orders_breaks_it(book):
    book.open()
    book.run("t1")
    book.run("t2", thread="w2", handover="unordered")
    assert len(book.broken(ID)) == 1


def test_an_ordered_handover_holds(book):
    book.open()
    book.run("t1")
    book.run("t2", thread="w2", handover="ordered")
    book.release(thread="main")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_an_unknown_handover_is_not_judged(book):
    book.open()
    book.run("t1")
    book.run("t2", thread="w2", handover="unknown")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 0


def test_a_session_that_many_threads_may_run_holds(book):
    book.open(sharing="concurrent-run")
    call = book.bind("t1")
    book.run("t2", thread="w2", handover="unordered")
    book.step(call, "invoke")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_resize_by_another_thread_during_a_run_breaks_it(book):
    book.open()
    call = book.bind("t1")
    book.end(book.begin("resize", "main", None, "s1"), answer="ok")
    book.step(call, "invoke")
    assert book.broken(ID) == ["main resized session s1 while w1 was using it"]


def test_a_resize_between_two_runs_holds_where_something_orders_it(book):
    book.open()
    book.run("t1")
    book.end(book.begin("resize", "main", None, "s1", handover="ordered"), answer="ok")
    book.run("t2", handover="ordered")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_resize_that_nothing_orders_breaks_it(book):
    book.open()
    book.run("t1")
    book.end(book.begin("resize", "main", None, "s1", handover="unordered"), answer="ok")
    assert len(book.broken(ID)) == 1
