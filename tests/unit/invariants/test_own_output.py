import pytest

ID = "own-output"


def test_a_match_holds(book):
    book.submit("t1")
    book.deliver("t1")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


@pytest.mark.parametrize("output", ["other-task:t2", "torn", "stale:t2", "garbage", "wrong-shape", "overwritten:t1"])
def test_anything_else_breaks_it(book, output):
    book.submit("t1")
    book.deliver("t1", output=output)
    assert len(book.broken(ID)) == 1


def test_the_message_names_whose_output_it_was(book):
    book.submit("t1")
    book.deliver("t1", output="other-task:t2")
    assert book.broken(ID) == ["t1 was given the output of t2"]


def test_an_input_overwritten_while_its_submit_is_in_progress_has_two_right_answers(book):
    call = book.begin("submit", task="t1")
    book.mark("input-overwritten", "other", "t1")
    book.end(call, answer="accepted")
    book.deliver("t1", output="overwritten:t1")
    judgement = book.judge(ID)
    assert (judgement.checked, judgement.violations) == (0, ())


def test_outputs_that_cannot_be_told_apart_are_unknown_and_not_counted(book):
    book.submit("t1")
    book.deliver("t1", output="indistinguishable")
    judgement = book.judge(ID)
    assert judgement.checked == 0
    assert "cannot tell" in judgement.unknown


def test_a_failure_is_no_premise(book):
    book.submit("t1")
    book.deliver("t1", "FAILED", error="RunError", foreign=False)
    assert book.judge(ID).checked == 0


def test_the_answer_of_an_equal_request_that_was_run_later_holds(book):
    book.submit("t1", key=1)
    book.submit("t2", key=1)
    book.run("t1")
    book.deliver("t2", output="shared:t1")
    assert book.broken("own-output") == []
    assert book.judge("own-output").checked == 1


def test_the_answer_of_an_equal_request_that_ran_already_breaks_it(book):
    book.submit("t1", key=1)
    call = book.bind("t1")
    book.submit("t2", key=1)
    book.step(call, "invoke")
    book.step(call, "fetch")
    book.deliver("t2", output="shared:t1")
    assert book.broken("own-output") == [
        "t2 was given the output of t1, whose run had begun before t2 was submitted",
    ]
