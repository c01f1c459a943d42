import pytest

ID = "fresh-only"


@pytest.fixture
def screen(book):
    """Three tasks of contexts 1 to 3: the first two ran on v1, the third on v2."""
    book.service()
    for session, version in (("s1", {}), ("s2", {"version": "v2"})):
        call = book.begin("session-open", "w1", None, session, fallback=False, **version)
        book.end(call, answer="ok", sharing="exclusive")
    for number, session in ((1, "s1"), (2, "s1"), (3, "s2")):
        book.submit(f"t{number}", context=number)
        book.run(f"t{number}", session)
    return book


def applied(book, number, subscriber=1, context=None):
    attrs = {"subscriber": subscriber, "context": number if context is None else context, "version": "v1"}
    book.mark("applied", "w1", f"t{number}", **attrs)


def told(book, kind, subscriber=1, **attrs):
    book.end(book.begin(kind, subscriber=subscriber, **attrs), subscriber=subscriber, **attrs)


def test_newer_and_newer_holds(screen):
    for number in (1, 2, 3):
        applied(screen, number)
    assert screen.broken(ID) == []
    assert screen.judge(ID).checked == 3


def test_nothing_applied_says_nothing(screen):
    assert screen.judge(ID).checked == 0


def test_going_back_breaks_it(screen):
    applied(screen, 2)
    applied(screen, 1)
    assert screen.broken(ID) == ["t1 of context 1 was applied after t2 of context 2"]


def test_the_same_result_twice_breaks_it(screen):
    applied(screen, 1)
    applied(screen, 1)
    assert screen.broken(ID) == ["t1 of context 1 was applied after t1 of context 1"]


def test_the_tasks_context_counts_and_not_what_the_result_says(screen):
    applied(screen, 2)
    applied(screen, 1, context=9)
    assert screen.broken(ID)


def test_two_subscribers_are_apart(screen):
    applied(screen, 2)
    applied(screen, 1, subscriber=2)
    assert screen.broken(ID) == []


def test_what_is_of_no_interest_breaks_it(screen):
    told(screen, "expect-context", context=2)
    applied(screen, 1)
    assert screen.broken(ID) == ["t1 was applied, and its context 1 was of no interest any more"]


def test_what_is_applied_while_it_is_told_holds(screen):
    call = screen.begin("expect-context", subscriber=1, context=2)
    applied(screen, 1)
    screen.end(call, subscriber=1, context=2)
    applied(screen, 2)
    assert screen.broken(ID) == []


def test_an_older_model_breaks_it(screen):
    told(screen, "current-model", version="v2")
    applied(screen, 2)
    assert screen.broken(ID) == ["t2 of v1 was applied, and v2 was current"]


def test_the_current_model_holds(screen):
    applied(screen, 1)
    told(screen, "current-model", version="v2")
    applied(screen, 3)
    assert screen.broken(ID) == []


def test_back_to_a_version_makes_it_current_again(screen):
    told(screen, "current-model", version="v2")
    told(screen, "current-model", version="v1")
    applied(screen, 2)
    assert screen.broken(ID) == []


def test_a_result_of_no_known_task_leaves_it_unknown(screen):
    screen.mark("applied", "w1", None, subscriber=1, context=1, version="v1")
    assert "no known task" in screen.judge(ID).unknown
