ID = "buffer-until-return"


def running(book, sharing="exclusive"):
    book.service()
    book.open(sharing=sharing)
    book.submit("t1")
    call = book.bind("t1")
    book.begin("invoke", "w1", "t1", "s1", call)
    return call


def returns(book, call):
    book.end(call, answer="ok")
    book.step(call, "fetch")


def test_a_session_that_is_used_again_after_the_return_holds(book):
    call = running(book)
    book.cancel("t1", "running")
    returns(book, call)
    book.submit("t2")
    book.run("t2")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_run_that_nobody_gave_up_is_no_premise(book):
    call = running(book)
    returns(book, call)
    book.deliver("t1")
    assert book.judge(ID).checked == 0


def test_a_bind_before_the_return_breaks_it(book):
    call = running(book)
    book.deliver("t1", "EXPIRED", expired_kind="running")
    book.submit("t2")
    book.bind("t2", thread="w2")
    returns(book, call)
    assert book.broken(ID) == ["t2 was bound to session s1 before the call of t1 had returned"]


def test_a_release_before_the_return_breaks_it(book):
    call = running(book)
    book.end(book.begin("wait", task="t1", timeout_ms=10), answer="timed-out")
    book.release(thread="w2")
    returns(book, call)
    assert book.broken(ID) == ["session s1 was released before the call of t1 had returned"]


def test_a_session_that_the_runtime_shares_may_be_bound_again(book):
    call = running(book, "concurrent-run")
    book.deliver("t1", "EXPIRED", expired_kind="running")
    book.submit("t2")
    book.bind("t2", thread="w2")
    returns(book, call)
    assert book.broken(ID) == []
