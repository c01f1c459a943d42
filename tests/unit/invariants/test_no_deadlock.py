import pytest

ID = "no-deadlock"


def stuck(book, role, thread="x"):
    book.mark("stuck", thread, waits_for="Lock 3", holder="w1", role=role)


def test_rest_after_close_holds(book):
    book.close()
    stuck(book, "daemon")
    book.mark("quiescent")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


@pytest.mark.parametrize("role", ["actor", "client", "service"])
def test_a_thread_that_can_never_move_breaks_it(book, role):
    book.close()
    stuck(book, role)
    book.mark("quiescent")
    assert book.broken(ID) == [f"x ({role}) waits for ever for Lock 3, held by w1"]


def test_a_close_that_never_returned_breaks_it_once(book):
    book.begin("service-close", "closer")
    book.mark("quiescent")
    assert book.broken(ID) == ["close() on closer waits for ever"]
    stuck(book, "client", "closer")
    assert len(book.broken(ID)) == 1


def test_a_worker_of_a_service_that_nobody_closed_may_wait(book):
    book.service()
    stuck(book, "service")
    book.mark("quiescent")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 0


def test_two_closes_that_wait_for_each_other_and_return_hold(book):
    first, second = book.begin("service-close", "a"), book.begin("service-close", "b")
    book.end(first, answer="returned", reentrant=False)
    book.end(second, answer="returned", reentrant=False)
    book.mark("quiescent")
    assert book.broken(ID) == []


def test_an_execution_that_did_not_come_to_rest_is_unknown(book):
    book.close()
    judgement = book.judge(ID)
    assert judgement.checked == 0
    assert judgement.unknown
