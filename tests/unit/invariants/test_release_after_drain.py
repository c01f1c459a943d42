ID = "release-after-drain"


def test_a_release_after_the_run_holds(book):
    book.open()
    book.run("t1")
    book.release()
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_release_during_invoke_breaks_it(book):
    book.open()
    call = book.bind("t1")
    book.begin("invoke", "w1", "t1", "s1", call)
    book.release(thread="main")
    book.end(call, answer="ok")
    assert book.broken(ID) == ["session s1 was released while t1 was running on it"]


def test_a_release_between_two_steps_of_a_run_breaks_it(book):
    book.open()
    call = book.bind("t1")
    book.release(thread="main")
    book.step(call, "invoke")
    assert len(book.broken(ID)) == 1


def test_a_release_during_a_call_that_never_returns_breaks_it(book):
    book.open()
    call = book.bind("t1")
    book.begin("invoke", "w1", "t1", "s1", call)
    book.release(thread="main")
    assert len(book.broken(ID)) == 1


def test_a_session_that_never_ran_is_no_premise(book):
    book.open()
    book.release()
    assert book.judge(ID).checked == 0


def test_a_run_that_its_service_gave_up_is_over(book):
    book.open()
    book.bind("t1")
    book.release()
    assert book.broken(ID) == []


def test_a_release_during_a_run_on_another_session_holds(book):
    book.open("s1")
    book.open("s2", "w2")
    book.run("t1", "s1")
    call = book.bind("t2", "s2", "w2")
    book.release("s1")
    book.step(call, "invoke")
    assert book.broken(ID) == []
