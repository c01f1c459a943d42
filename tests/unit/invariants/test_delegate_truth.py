ID = "delegate-truth"


def test_what_was_asked_for_took_part(book):
    book.open()
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1


def test_an_undeclared_fallback_breaks_it(book):
    book.open(actual="cpu")
    assert book.broken(ID) == ["session s1 asked for xnnpack and got cpu, undeclared"]


def test_not_knowing_breaks_it(book):
    book.open(evidence="unknown")
    assert len(book.broken(ID)) == 1


def test_a_declared_fallback_holds(book):
    book.open(actual="cpu", fallback=True)
    book.open("s2", asked=True, actual="cpu")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 2


def test_a_delegate_that_says_it_did_not_start_tells_the_truth(book):
    book.open(answer="error", error="DelegateInitError")
    assert book.judge(ID).checked == 1
    assert not book.judge(ID).violations


def test_two_openings_at_once_keep_their_own_answers(book):
    first = book.begin("session-open", "w1", None, "s1", fallback=False)
    second = book.begin("session-open", "w2", None, "s2", fallback=True)
    truth = {"answer": "ok", "requested": "gpu", "sharing": "exclusive", "evidence": "node list"}
    book.end(second, **truth, actual="cpu", fallback=True)
    book.end(first, **truth, actual="gpu", fallback=False)
    assert book.broken(ID) == []
