ID = "quarantine"


def leased(book, task):
    book.submit(task)
    book.mark("lease-begin", "w1", task, slot="slot0")
    book.run(task)
    book.mark("lease-end", "w1", slot="slot0")


def state(book, name, slot="slot0"):
    book.mark("slot-state", "w1", slot=slot, state=name)


def test_a_slot_that_was_rebuilt_may_be_leased_again(book):
    leased(book, "t1")
    state(book, "quarantined")
    state(book, "rebuilding")
    book.open("s2")
    state(book, "ready")
    leased(book, "t2")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_another_slot_goes_on(book):
    state(book, "lost", "slot1")
    leased(book, "t1")
    assert book.broken(ID) == []


def test_a_lease_before_it_is_ready_breaks_it(book):
    leased(book, "t1")
    state(book, "quarantined")
    leased(book, "t2")
    assert book.broken(ID) == ["slot slot0 was quarantined, and was leased to t2 before it was ready again"]


def test_ready_without_a_new_session_breaks_it(book):
    leased(book, "t1")
    state(book, "quarantined")
    state(book, "ready")
    leased(book, "t2")
    assert book.broken(ID) == ["slot slot0 was quarantined and then ready, and no session had been opened for it"]


def test_a_session_that_did_not_open_rebuilds_nothing(book):
    leased(book, "t1")
    state(book, "quarantined")
    book.open("s2", answer="error")
    state(book, "ready")
    leased(book, "t2")
    assert len(book.broken(ID)) == 1


def test_a_service_that_tells_of_no_slot_is_not_judged(book):
    leased(book, "t1")
    assert book.judge(ID).checked == 0


def test_ready_with_a_session_that_a_switch_had_opened_before(book):
    book.open("s2")
    leased(book, "t1")
    state(book, "quarantined")
    book.release("s1")
    state(book, "ready")
    book.submit("t2")
    book.mark("lease-begin", "w1", "t2", slot="slot0")
    book.run("t2", "s2")
    assert book.broken(ID) == []
