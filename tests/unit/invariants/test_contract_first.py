import pytest

ID = "contract-first"


def test_a_refusal_holds(book):
    book.submit("t1", "refused", refusal="contract", malformed=True)
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_failure_at_bind_holds(book):
    book.submit("t1", malformed=True)
    book.bind("t1", reached=False)
    book.deliver("t1", "FAILED", error="ContractError", foreign=False)
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_reaching_the_runtime_breaks_it(book):
    book.submit("t1", malformed=True)
    book.run("t1")
    book.deliver("t1", "FAILED", error="RunError", foreign=False)
    assert book.broken(ID) == ["the malformed input of t1 was handed to the runtime"]


def test_success_breaks_it_also_where_the_seam_does_not_know_the_input(book):
    book.submit("t1", malformed=True)
    book.run(None, unattributed=True)
    book.deliver("t1", output="garbage")
    assert book.broken(ID) == ["t1 SUCCEEDED on a malformed input"]


def test_a_well_formed_neighbour_that_runs_meanwhile_holds(book):
    call = book.begin("submit", "other", "t1", malformed=True)
    book.submit("t2")
    book.run("t2")
    book.end(call, answer="refused", refusal="contract")
    book.deliver("t2")
    assert book.broken(ID) == []


@pytest.mark.parametrize("refusal", ["full", "closed"])
def test_a_refusal_for_another_reason_is_no_premise(book, refusal):
    book.submit("t1", "refused", refusal=refusal, malformed=True)
    assert book.judge(ID).checked == 0


def test_an_input_that_the_service_read_right_in_another_byte_order_holds(book):
    book.submit("t1", malformed=True)
    book.run(None, unattributed=True)
    book.deliver("t1", output="match")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1
