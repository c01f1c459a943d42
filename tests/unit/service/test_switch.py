"""Switching the model: on fakes for what each answer is, under the engine for every interleaving."""

import threading

import pytest
from controlled_programs import explore
from service_fakes import GUARD, FakeRuntime, task, value_of

from harness.service.changeover import SwitchOrder, SwitchPolicy
from harness.service.config import Opening, ServiceConfig
from harness.service.errors import ServiceClosedError, SwitchError
from harness.service.pool import SessionPool
from harness.service.requests import Ordering, OverflowPolicy, RequestClass

ORDERS = tuple(SwitchOrder)


@pytest.fixture
def newer():
    """The runtime of the second version."""
    made = FakeRuntime()
    yield made
    assert made.breaches == []
    assert all(session.closes == 1 for session in made.sessions), "every session is closed exactly once"


def pool(runtime, **config):
    return SessionPool(runtime.open, ServiceConfig(**{"capacity": 8, "model_version": "v1", **config}))


def switching(service, opener, **options):
    """Start a switch in a thread; what it raised is in the list when the thread has ended."""
    raised = []

    def switch():
        try:
            service.switch(opener, version="v2", **options)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            raised.append(error)

    thread = threading.Thread(target=switch)
    thread.start()
    return thread, raised


def settle(service):
    """Wait until the switch has done what it can: it is committed, or waits for the slots."""
    change = None
    while change is None:
        with service.lock:
            change = service._crew.change
    return change


def test_futures_name_the_model_that_ran_them(runtime, newer):
    with pool(runtime) as service:
        first = service.submit(task(1))
        first.result(GUARD)
        service.switch(newer.open, version="v2")
        second = service.submit(task(2))
        assert value_of(second.result(GUARD)) == 4.0
        assert (first.model_version, second.model_version) == ("v1", "v2")
        assert runtime.sessions[0].closes == 1, "the old session is released when the switch returns"
    assert (runtime.order, newer.order) == ([1.0], [2.0])


def test_without_a_version_there_is_none(runtime):
    with SessionPool(runtime.open, ServiceConfig(capacity=2)) as service:
        future = service.submit(task(1))
        future.result(GUARD)
        assert future.model_version is None


@pytest.mark.parametrize("order", ORDERS)
def test_old_tasks_finish_on_the_old_model_in_the_declared_order(runtime, newer, order):
    runtime.hold(1)
    with pool(runtime, ordering=Ordering.PRIORITY) as service:
        service.submit(task(1))
        runtime.wait_inside(1)
        low, high = service.submit(task(2), priority=1), service.submit(task(3), priority=5)
        thread, raised = switching(service, newer.open, order=order)
        settle(service)
        runtime.let_go(1)
        thread.join(GUARD)
        urgent = service.submit(task(4), priority=9)
        urgent.result(GUARD)
        assert not raised
        assert (low.model_version, high.model_version, urgent.model_version) == ("v1", "v1", "v2")
    assert runtime.order == [1.0, 3.0, 2.0]


@pytest.mark.parametrize("order", ORDERS)
def test_pending_tasks_are_cancelled_by_policy(runtime, newer, order):
    runtime.hold(1)
    with pool(runtime) as service:
        running = service.submit(task(1))
        runtime.wait_inside(1)
        waiting = service.submit(task(2))
        thread, raised = switching(service, newer.open, order=order, pending=SwitchPolicy.CANCEL)
        settle(service)
        runtime.let_go(1)
        thread.join(GUARD)
        assert not raised
        assert value_of(running.result(GUARD)) == 2.0, "what runs is delivered"
        assert waiting.cancelled()
        assert waiting.cancel_kind == "queued"
        assert waiting.model_version is None
    assert runtime.order == [1.0]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("failing", [0, 1])
def test_a_model_that_does_not_open_changes_nothing(runtime, newer, order, failing):
    cause = OSError("no such model")
    newer.open_errors = {failing: cause}
    with pool(runtime, slots=2) as service:
        with pytest.raises(SwitchError, match="OSError") as raised:
            service.switch(newer.open, version="v2", order=order)
        assert raised.value.__cause__ is cause
        assert "no such model" not in str(raised.value)
        future = service.submit(task(1))
        assert value_of(future.result(GUARD)) == 2.0
        assert future.model_version == "v1"
        assert all(session.closes == 1 for session in newer.sessions), "what had opened is closed again"
        assert service.health == "healthy"
        newer.open_errors = {}
        service.switch(newer.open, version="v2", order=order)
        assert service.submit(task(2)).result(GUARD)


def test_pending_tasks_are_not_cancelled_for_a_model_that_does_not_open(runtime, newer):
    runtime.hold(1)
    newer.open_errors = {0: OSError("no such model")}
    with pool(runtime) as service:
        service.submit(task(1))
        runtime.wait_inside(1)
        waiting = service.submit(task(2))
        thread, raised = switching(service, newer.open, pending=SwitchPolicy.CANCEL, order=SwitchOrder.CLOSE_FIRST)
        settle(service)
        runtime.let_go(1)
        thread.join(GUARD)
        assert [type(error) for error in raised] == [SwitchError]
        assert value_of(waiting.result(GUARD)) == 4.0
        assert waiting.model_version == "v1"


def test_a_session_that_the_health_check_refuses_is_not_used(runtime, newer):
    with (
        pool(runtime, health_check=lambda session: session.runtime is runtime) as service,
        pytest.raises(SwitchError, match="RunError"),
    ):
        service.switch(newer.open, version="v2")


def test_a_new_request_does_not_join_an_old_one(runtime, newer):
    runtime.hold(1)
    newer.hold(3)
    with pool(runtime, slots=1, classes=(RequestClass(overflow=OverflowPolicy.COALESCE),)) as service:
        service.submit(task(1))
        runtime.wait_inside(1)
        old = service.submit(task(2), key="equal")
        thread, raised = switching(service, newer.open, order=SwitchOrder.CLOSE_FIRST)
        settle(service)
        new = service.submit(task(3), key="equal")
        runtime.let_go(1)
        newer.let_go(3)
        thread.join(GUARD)
        assert not raised
        assert value_of(old.result(GUARD)) == 4.0
        assert value_of(new.result(GUARD)) == 6.0
        assert (old.model_version, new.model_version) == ("v1", "v2")


def test_a_lazy_pool_learns_at_the_switch_whether_the_model_opens(runtime, newer):
    with pool(runtime, slots=2, opening=Opening.LAZY) as service:
        service.switch(newer.open, version="v2")
        assert len(newer.sessions) == 1
        future = service.submit(task(1))
        future.result(GUARD)
        assert future.model_version == "v2"
    assert runtime.sessions == []


def test_a_lost_pool_is_saved_by_a_model_that_opens(runtime, newer):
    runtime.run_errors = {1.0: RuntimeError("broken")}
    runtime.open_errors = {1: OSError("gone")}
    with pool(runtime) as service:
        service.submit(task(1)).exception(GUARD)
        while service.health == "healthy":
            pass
        service.switch(newer.open, version="v2")
        assert service.health == "healthy"
        assert value_of(service.submit(task(2)).result(GUARD)) == 4.0


def test_not_on_the_services_own_thread(runtime, newer):
    found = []
    runtime.hold(1)
    with pool(runtime) as service:

        def callback(_):
            try:
                service.switch(newer.open, version="v2")
            except SwitchError as error:
                found.append(str(error))

        future = service.submit(task(1))
        future.add_done_callback(callback)
        runtime.let_go(1)
        future.result(GUARD)
    assert found == ["a switch waits for the workers: not on one of the service's own threads"]


def test_a_closed_service_is_not_switched(runtime, newer):
    service = pool(runtime)
    service.close()
    with pytest.raises(ServiceClosedError):
        service.switch(newer.open, version="v2")
    assert newer.sessions == []


@pytest.mark.parametrize(("name", "value"), [("pending", "drop"), ("order", "both")])
def test_unknown_options_are_refused(runtime, newer, name, value):
    with pool(runtime) as service, pytest.raises(ValueError, match=value):
        service.switch(newer.open, version="v2", **{name: value})


# program: answers of which some must be among those seen, so that what the program is about did happen
PROGRAMS = {
    "switch_under_load": {"fine SUCCEEDED:v1 SUCCEEDED:v2"},
    "switch_closing_first": {"fine SUCCEEDED:v1 SUCCEEDED:v2"},
    "switch_cancelling": {"fine CANCELLED SUCCEEDED:v1"},
    "switch_cancelling_and_closing_first": {"fine CANCELLED SUCCEEDED:v1 SUCCEEDED:v2"},
    "switch_of_a_lazy_pool": {"fine SUCCEEDED:v1 SUCCEEDED:v2"},
    "switch_that_fails": {"fine"},
    "switch_that_fails_closing_first": {"fine"},
    "switch_races_close": {"fine ServiceClosedError"},
    "two_switches": {"fine v2", "fine v3"},
    "switch_with_a_broken_session": {"fine SUCCEEDED:v1", "fine SUCCEEDED:v2"},
    "switch_with_a_deadline": {"fine SUCCEEDED:v1 CANCELLED SUCCEEDED:v2"},
}
# a defect by name: the program that must find it, and the variant
DEFECTS = {
    "old tasks run on whatever is there": (
        "switch_under_load",
        ("changeover", "        if self.serves_old(slot):\n            return self.old_up_to\n", ""),
    ),
    "a slot changes over before its tasks are done": (
        "switch_under_load",
        ("changeover", "if has_to and not self.serves_old(slot) else None", "if has_to else None"),
    ),
    "a failed switch keeps what it opened": (
        "switch_that_fails",
        ("changeover", "            return Chore.DISCARD\n", "            return None\n"),
    ),
    "one slot that opened is enough": (
        "switch_that_fails",
        ("changeover", "return bool(prepared) and all(", "return bool(prepared) or all("),
    ),
    "the version is named when the task is done": (
        "switch_under_load",
        ("crew", "version = slot.model.version", "version = self.model.version"),
    ),
    "two switches at once": ("two_switches", ("switch", "return self._queue[0] is ticket and", "return ticket and")),
    "a lazy pool forgets who waits": (
        "switch_of_a_lazy_pool",
        ("changeover", " and nobody_else and not self._line.size", " and nobody_else"),
    ),
}


@pytest.mark.parametrize("strategy", ["random", "pct"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_interleaving_breaks_it(program, strategy):
    found = explore(program, 60, strategy)
    assert not [answer for answer in found if not answer.startswith("fine")], found


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_a_program_is_about_happens(program):
    assert PROGRAMS[program] & set(explore(program, 60, "pct"))


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(defect):
    program, variant = DEFECTS[defect]
    found = {}
    for strategy, executions in (("random", 60), ("pct", 200)):
        found |= explore(program, executions, strategy, variant)
        if any(not answer.startswith("fine") for answer in found):
            return
    pytest.fail(f"{defect}: not found, {found}")
