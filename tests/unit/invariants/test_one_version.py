import pytest

ID = "one-version"


def opened(book, session, version=None):
    begin = {} if version is None else {"version": version}
    book.end(book.begin("session-open", "w1", None, session, fallback=False, **begin), answer="ok", sharing="exclusive")


def switched(book, version="v2", answer="switched", pending="finish", session="s2"):
    call = book.begin("model-switch", version=version, pending=pending)
    if answer == "switched":
        opened(book, session, version)
    book.end(call, answer=answer)


@pytest.fixture
def switching(book):
    """t1 ran on the first version, and the service was switched."""
    book.service()
    opened(book, "s1")
    book.submit("t1")
    book.run("t1")
    switched(book)
    return book


def test_each_on_its_own_version_holds(switching):
    switching.submit("t2")
    switching.run("t2", "s2")
    switching.deliver("t1", version="v1")
    switching.deliver("t2", version="v2")
    assert switching.broken(ID) == []
    assert switching.judge(ID).checked == 2


def test_without_a_switch_it_says_nothing(book):
    book.service()
    opened(book, "s1")
    book.submit("t1")
    book.run("t1")
    book.deliver("t1")
    assert book.judge(ID).checked == 0


def test_a_future_that_names_another_version_breaks_it(switching):
    switching.deliver("t1", version="v2")
    assert switching.broken(ID) == ["t1 ran on v1, and its future names v2"]


def test_a_future_that_names_none_breaks_it(switching):
    switching.deliver("t1", version=None)
    assert switching.broken(ID) == ["t1 ran on v1, and its future names None"]


def test_an_outdated_version_breaks_it(switching):
    switching.submit("t2")
    switching.run("t2", "s1")
    switching.deliver("t2", version="v1")
    assert switching.broken(ID) == ["t2 was submitted after a switch away from v1 had returned, and ran on it"]


def test_an_old_task_on_the_new_version_breaks_it(book):
    book.service()
    opened(book, "s1")
    book.submit("t1")
    switched(book)
    book.run("t1", "s2")
    book.deliver("t1", version="v2")
    assert book.broken(ID) == ["t1 was accepted before the switch to v2 had begun, and ran on it"]


def test_an_old_task_may_run_on_the_new_version_where_a_slot_was_lost(book):
    book.service()
    opened(book, "s1")
    book.submit("t1")
    switched(book)
    book.mark("slot-state", slot="slot0", state="lost")
    book.run("t1", "s2")
    book.deliver("t1", version="v2")
    assert book.broken(ID) == []


@pytest.mark.parametrize(("session", "version"), [("s1", "v1"), ("s2", "v2")])
def test_what_overlaps_the_switch_may_get_either(book, session, version):
    book.service()
    opened(book, "s1")
    call = book.begin("model-switch", version="v2", pending="finish")
    book.submit("t1")
    opened(book, "s2", "v2")
    book.end(call, answer="switched")
    book.run("t1", session)
    book.deliver("t1", version=version)
    assert book.broken(ID) == []


def test_of_two_switches_at_once_either_may_win(book):
    book.service()
    calls = [book.begin("model-switch", name, version=name, pending="finish") for name in ("v2", "v3")]
    opened(book, "s2", "v2")
    opened(book, "s3", "v3")
    for call in calls:
        book.end(call, answer="switched")
    for task, session, version in (("t1", "s2", "v2"), ("t2", "s3", "v3")):
        book.submit(task)
        book.run(task, session)
        book.deliver(task, version=version)
    assert book.broken(ID) == []


def test_a_switch_that_failed_switches_nothing(book):
    book.service()
    opened(book, "s1")
    switched(book, answer="refused")
    opened(book, "s2", "v2")
    book.submit("t1")
    book.run("t1", "s2")
    book.deliver("t1", version="v2")
    assert book.broken(ID) == ["t1 ran on v2, to which the service was not switched"]


def test_two_versions_in_one_task_break_it(switching):
    switching.submit("t2")
    switching.run("t2", "s1")
    switching.run("t2", "s2")
    switching.deliver("t2", version="v2")
    assert switching.broken(ID) == ["t2 ran on v1 and v2"]


def test_an_input_that_nobody_submitted_leaves_it_unknown(switching):
    switching.run(None, "s2", unattributed=True)
    switching.deliver("t1", version="v1")
    assert "whose it is" in switching.judge(ID).unknown


@pytest.mark.parametrize(
    ("pending", "answer", "explained"),
    [("cancel", "switched", True), ("finish", "switched", False), ("cancel", "refused", False)],
)
def test_a_switch_that_cancels_explains_a_cancelled_task(book, pending, answer, explained):
    book.service()
    opened(book, "s1")
    book.submit("t1")
    book.cancel("t1", answer=False)
    switched(book, answer=answer, pending=pending)
    book.deliver("t1", "CANCELLED")
    assert (book.broken("no-delivery-after-cancel") == []) is explained


def test_an_output_of_the_other_model_breaks_it(switching):
    switching.deliver("t1", version="v1", model="next")
    assert switching.broken(ID) == ["t1 ran on v1, and its output is that of the next model"]


def test_an_output_of_the_model_that_ran_holds(book):
    book.service()
    opened(book, "s1")
    call = book.begin("model-switch", version="v2", pending="finish")
    book.end(book.begin("session-open", "w1", None, "s2", version="v2", model="next"), answer="ok")
    book.end(call, answer="switched")
    book.submit("t1")
    book.run("t1", "s2")
    book.deliver("t1", version="v2", model="next")
    assert book.broken(ID) == []
    assert book.judge(ID).checked == 1
