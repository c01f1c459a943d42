ID = "residency"


def client(book, *sessions, workers=1):
    call = book.begin("service-open", capacity=2, workers=workers, running_cancel=True, resident=True)
    for session in sessions:
        book.open(session)
    book.end(call, answer="ok")


def test_clients_that_share_hold(book):
    client(book, "s1")
    client(book)
    book.close()
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_a_load_for_each_client_breaks_it(book):
    client(book, "s1")
    client(book, "s2")
    assert book.broken(ID) == ["2 sessions of one model were open at once, for clients that could share 1"]


def test_as_many_sessions_as_slots_hold(book):
    client(book, "s1", "s2", workers=2)
    client(book)
    assert book.broken(ID) == []


def test_a_session_that_replaced_another_holds(book):
    client(book, "s1")
    client(book)
    book.release("s1")
    book.open("s2")
    assert book.broken(ID) == []


def test_a_client_that_came_after_the_first_had_left_may_load(book):
    client(book, "s1")
    book.close()
    client(book, "s2")
    assert book.judge(ID).checked == 0


def test_one_client_says_nothing(book):
    client(book, "s1")
    assert book.judge(ID).checked == 0


def test_services_that_are_not_resident_say_nothing(book):
    book.service()
    book.open("s1")
    book.service()
    book.open("s2")
    assert book.judge(ID).checked == 0
