ID = "input-frozen"


def overwritten(book, **deliver):
    book.submit("t1")
    book.mark("input-overwritten", task="t1")
    book.run("t1")
    book.deliver("t1", **deliver)


def test_what_was_submitted_ran(book):
    overwritten(book)
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_running_on_the_decoy_breaks_it(book):
    overwritten(book, output="overwritten:t1")
    assert book.broken(ID) == ["t1 ran on what its caller wrote over the input after submitting it"]


def test_it_breaks_also_where_another_task_was_given_the_answer(book):
    book.submit("t2")
    overwritten(book, outcome="FAILED", error="RunError", foreign=False)
    book.deliver("t2", output="overwritten:t1")
    assert len(book.broken(ID)) == 1


def test_an_overwrite_during_the_submit_proves_nothing(book):
    call = book.begin("submit", "other", "t1")
    book.mark("input-overwritten", task="t1")
    book.end(call, answer="accepted")
    book.deliver("t1", output="overwritten:t1")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 0


def test_a_task_that_did_not_succeed_is_no_premise(book):
    overwritten(book, outcome="CANCELLED")
    assert book.judge(ID).checked == 0
