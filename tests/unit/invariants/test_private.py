ID = "private"


def test_a_text_about_the_task_alone_holds(book):
    book.submit("t1")
    book.deliver("t1", "FAILED", error="RunError", foreign=False)
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_text_that_names_another_task_breaks_it(book):
    book.submit("t1")
    book.deliver("t1", "FAILED", error="RunError", foreign=True)
    assert book.broken(ID) == ["the error text of t1 names another task"]


def test_two_tasks_that_fail_at_once_hold(book):
    for task in ("t1", "t2"):
        book.submit(task)
    call = book.bind("t1")
    book.run("t2", "s2", "w2")
    book.step(call, "invoke")
    for task in ("t1", "t2"):
        book.deliver(task, "FAILED", error="RunError", foreign=False)
    assert book.broken(ID) == []
