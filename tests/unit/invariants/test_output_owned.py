ID = "output-owned"


def test_an_output_that_stays_the_same_holds(book):
    book.submit("t1")
    book.deliver("t1")
    book.mark("output-rechecked", task="t1", same=True)
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_an_output_that_changed_breaks_it(book):
    book.submit("t1")
    book.deliver("t1")
    book.mark("output-rechecked", task="t1", same=False)
    assert book.broken(ID) == ["the output of t1 changed after it was delivered"]


def test_a_recheck_while_another_task_runs_holds(book):
    book.submit("t1")
    book.submit("t2")
    book.deliver("t1")
    call = book.bind("t2")
    book.mark("output-rechecked", task="t1", same=True)
    book.step(call, "invoke")
    assert book.broken(ID) == []
