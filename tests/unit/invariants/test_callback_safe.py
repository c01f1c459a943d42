ID = "callback-safe"


def added(book, task="t1", thread="script"):
    book.submit(task, thread=thread)
    book.end(book.begin("add-callback", thread, task))


def called(book, thread="w1", task="t1", answer="returned", *, done=True):
    call = book.begin("callback", thread, task, done=done)
    if answer:
        book.end(call, answer=answer)
    return call


def at_rest(book):
    book.mark("quiescent")


def test_a_callback_on_a_worker_holds(book):
    added(book)
    called(book)
    at_rest(book)
    book.deliver("t1")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_no_callback_was_added(book):
    book.submit("t1")
    book.deliver("t1")
    assert book.judge(ID).checked == 0


def test_a_callback_before_the_end_breaks_it(book):
    added(book)
    called(book, done=False)
    assert book.broken(ID) == ["a callback of t1 was run before t1 had ended"]


def test_a_callback_on_a_client_that_did_nothing_breaks_it(book):
    added(book)
    book.begin("wait", "script", "t1", timeout_ms=-1)
    called(book, "script")
    assert book.broken(ID) == [
        "a callback of t1 was run on the client's thread script, which had not ended t1",
    ]


def test_a_callback_inside_the_cancel_that_ended_the_task_holds(book):
    added(book)
    cancel = book.begin("cancel", "script", "t1")
    called(book, "script")
    book.end(cancel, answer=True, cancel_kind="queued")
    assert book.broken(ID) == []


def test_a_callback_inside_the_submit_that_replaced_the_task_holds(book):
    added(book)
    submit = book.begin("submit", "script", "t2")
    called(book, "script")
    book.end(submit, answer="accepted")
    assert book.broken(ID) == []


def test_a_callback_inside_another_task_s_cancel_breaks_it(book):
    added(book)
    book.submit("t2")
    cancel = book.begin("cancel", "script", "t2")
    called(book, "script")
    book.end(cancel, answer=True, cancel_kind="queued")
    assert len(book.broken(ID)) == 1


def test_a_callback_inside_its_adding_holds(book):
    book.submit("t1")
    adding = book.begin("add-callback", "script", "t1")
    called(book, "script")
    book.end(adding)
    assert book.broken(ID) == []


def test_a_lock_that_somebody_waits_for_while_the_callback_does_not_end_breaks_it(book):
    added(book)
    called(book, answer=None)
    book.mark("stuck", "client", waits_for="lock A", holder="w1", role="actor")
    at_rest(book)
    assert book.broken(ID) == ["a callback of t1 was run with a lock held that client waits for"]


def test_a_lock_of_somebody_else_is_not_the_callback_s(book):
    added(book)
    called(book, answer=None)
    book.mark("stuck", "client", waits_for="lock A", holder="w2", role="actor")
    at_rest(book)
    assert book.broken(ID) == []


def test_a_worker_that_a_callback_killed_breaks_it(book):
    added(book)
    book.submit("t2")
    book.run("t1")
    called(book, answer="raised")
    at_rest(book)
    book.deliver("t1")
    book.mark("pending", task="t2")
    assert book.broken(ID) == ["a callback of t1 raised on w1, which did nothing more, and t2 never ended"]


def test_a_callback_that_raised_and_killed_nobody_holds(book):
    added(book)
    book.submit("t2")
    book.run("t1")
    called(book, answer="raised")
    book.run("t2")
    at_rest(book)
    book.deliver("t1")
    book.deliver("t2")
    assert book.broken(ID) == []


def test_a_callback_that_is_run_twice_breaks_it(book):
    added(book)
    called(book)
    called(book)
    at_rest(book)
    assert book.broken(ID) == ["a callback of t1 was run 2 times"]


def test_two_callbacks_are_run_once_each(book):
    added(book)
    book.end(book.begin("add-callback", "script", "t1"))
    called(book)
    called(book)
    at_rest(book)
    book.deliver("t1")
    assert book.broken(ID) == []


def test_a_callback_that_is_never_run_breaks_it(book):
    added(book)
    at_rest(book)
    book.deliver("t1")
    assert book.broken(ID) == ["t1 is SUCCEEDED, and a callback of it was never run"]
