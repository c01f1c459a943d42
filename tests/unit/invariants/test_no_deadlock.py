import pytest

ID = "no-deadlock"


def stuck(book, role="service", thread="x", what="a notification", holder=""):
    book.mark("stuck", thread, waits_for=what, holder=holder, role=role)


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
    (message,) = book.broken(ID)
    assert "x waits for a notification" in message


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


def at_rest(book, *waits, closed=False):
    """Each wait is a thread, its role, what it waits for and who holds that; close() has returned, or never does."""
    if closed:
        book.close()
    else:
        book.begin("service-close", "nobody")
    for thread, role, what, holder in waits:
        stuck(book, role, thread, what, holder)
    book.mark("quiescent")
    return [message for message in book.broken(ID) if not message.startswith("close()")]


def test_a_cycle_of_holders_is_a_deadlock_and_named(book):
    waits = [("a", "client", "lock A", "b"), ("b", "client", "lock B", "c"), ("c", "service", "lock C", "a")]
    (message,) = at_rest(book, *waits)
    chain = "waits for lock A, held by b, which waits for lock B, held by c, which waits for lock C, held by a"
    assert message == f"deadlock: a holds lock C and {chain}"


def test_a_cycle_through_a_join_is_a_deadlock(book):
    waits = [("w", "service", "lock A", "z"), ("z", "client", "the end of w", "w"), ("y", "client", "lock A", "z")]
    assert at_rest(book, *waits) == [
        "deadlock: z holds lock A and waits for the end of w, which waits for lock A, held by z; y waits for lock A"
    ]


def test_a_thread_that_waits_for_its_own_lock_is_a_deadlock(book):
    waits = [("a", "client", "lock A", "a")]
    assert at_rest(book, *waits) == ["deadlock: a waits for lock A, which it holds itself"]


def test_a_wait_for_room_with_a_lock_in_hand_is_a_deadlock(book):
    waits = [("a", "client", "room in a queue", ""), ("w", "service", "lock A", "a")]
    assert at_rest(book, *waits) == ["deadlock: a holds lock A and waits for room in a queue, while w waits for lock A"]


def test_semaphores_taken_crosswise_are_a_deadlock(book):
    waits = [("v", "service", "a unit of semaphore A", ""), ("w", "service", "a unit of semaphore B", "")]
    (message,) = at_rest(book, *waits)
    assert message.startswith("deadlock: v waits for a unit of semaphore A and w waits for a unit of semaphore B")


def test_a_lock_whose_holder_has_ended_is_abandoned(book):
    waits = [("a", "client", "lock A", "w")]
    assert at_rest(book, *waits) == ["abandoned lock: a waits for lock A, which w held when it ended"]


def test_what_nobody_holds_is_a_lost_wakeup(book):
    waits = [("w", "daemon", "an item in a queue", ""), ("a", "actor", "the end of w", "w")]
    (message,) = at_rest(book, *waits)
    lost = "lost wakeup: w waits for an item in a queue, and no thread is left that could give it"
    assert message == f"{lost}; a waits for the end of w"


def test_a_loop_that_gets_nowhere_is_a_livelock(book):
    waits = [("v", "service", "spinning", ""), ("w", "service", "spinning", ""), ("a", "actor", "the end of v", "v")]
    assert at_rest(book, *waits) == [
        "livelock: v and w go on for ever, and nothing comes of it; a waits for the end of v"
    ]


@pytest.mark.parametrize("role", ["daemon", "service"])
def test_a_worker_that_polls_is_none(book, role):
    book.service()
    stuck(book, role, "w", "spinning")
    book.mark("quiescent")
    assert book.broken(ID) == []


@pytest.mark.parametrize("says", [("an event", "w waits for an event"), ("spinning", "w still goes on after close()")])
def test_a_thread_that_outlives_close_is_leaked(book, says):
    what, told = says
    (message,) = at_rest(book, ("w", "service", what, ""), closed=True)
    assert message.startswith("leaked thread: ")
    assert told in message


OUTCOME = ("a", "client", "the outcome of t1", "")
CROSSED = [("a", "client", "lock A", "b"), ("b", "client", "lock B", "a")]


def test_a_client_waits_behind_what_its_service_hangs_in_before_any_close(book):
    book.service()
    for thread, other in (("v", "w"), ("w", "v")):
        stuck(book, "service", thread, f"lock {other}", other)
    stuck(book, *OUTCOME[1::-1], *OUTCOME[2:])
    book.mark("quiescent")
    (message,) = book.broken(ID)
    assert message.startswith("deadlock: v holds lock v and waits for lock w")
    assert message.endswith("; a waits for the outcome of t1")


def test_a_client_that_nobody_answers_is_a_lost_wakeup_and_idle_workers_are_named(book):
    book.service()
    stuck(book, *OUTCOME[1::-1], *OUTCOME[2:])
    stuck(book, "service", "w", "an item in a queue")
    book.mark("quiescent")
    (message,) = book.broken(ID)
    lost = "lost wakeup: a waits for the outcome of t1, and no thread is left that could give it"
    assert message == f"{lost}, while w waits for an item in a queue"


def test_what_follows_from_a_deadlock_is_no_violation_of_its_own(book):
    waits = [*CROSSED, ("w", "service", "an event", ""), ("c", *OUTCOME[1:])]
    (message,) = at_rest(book, *waits)
    assert message.startswith("deadlock: ")


def test_many_that_wait_behind_are_counted(book):
    waits = [(name, "client", "lock A", "x") for name in "abc"]
    (message,) = at_rest(book, ("x", "client", "lock A", "x"), *waits)
    assert message == "deadlock: x waits for lock A, which it holds itself; 3 threads wait behind it"
