import threading

import numpy as np
import pytest
from service_fakes import GUARD, task, value_of

from adapters.base import ContractError, RunError
from harness.service.config import ServiceConfig
from harness.service.errors import QueueFullError, RunAbortedError, ServiceClosedError
from harness.service.queue import SerialQueue


def open_queue(runtime, capacity=4):
    return SerialQueue(runtime.open, ServiceConfig(capacity=capacity))


def test_each_task_gets_its_own_output_in_order_of_acceptance(runtime):
    with open_queue(runtime, 16) as queue:
        futures = [queue.submit(task(n)) for n in range(10)]
        assert [value_of(future.result(GUARD)) for future in futures] == [2.0 * n for n in range(10)]
    assert runtime.order == [float(n) for n in range(10)]


def test_the_session_is_opened_run_and_closed_on_the_worker(runtime):
    with open_queue(runtime) as queue:
        queue.submit(task(1)).result(GUARD)
    (session,) = runtime.sessions
    assert session.opened_on is not threading.current_thread()
    assert session.ran_on == {session.opened_on}
    assert session.closed_on is session.opened_on
    assert not session.opened_on.is_alive()


def test_a_full_queue_answers_without_blocking(runtime):
    runtime.hold(0)
    with open_queue(runtime, 2) as queue:
        running = queue.submit(task(0))
        runtime.wait_inside(0)
        waiting = [queue.submit(task(1)), queue.submit(task(2))]
        with pytest.raises(QueueFullError, match=r"2 accepted task\(s\) wait already"):
            queue.submit(task(3))
        assert queue.counters().accepted == 3
        runtime.let_go(0)
        assert [value_of(future.result(GUARD)) for future in [running, *waiting]] == [0.0, 2.0, 4.0]


def test_a_refused_task_costs_no_copy(runtime):
    class Unreadable(dict):
        def items(self):
            pytest.fail("the inputs of a refused task were read")

    runtime.hold(0)
    with open_queue(runtime, 1) as queue:
        queue.submit(task(0))
        runtime.wait_inside(0)
        queue.submit(task(1))
        with pytest.raises(QueueFullError):
            queue.submit(Unreadable())
        runtime.let_go(0)


class Racing(dict):
    """Inputs whose copying takes long enough for something else to happen."""

    def __init__(self, inputs, happens):
        super().__init__(inputs)
        self.happens = happens

    def items(self):
        happens, self.happens = self.happens, lambda: None
        happens()
        return super().items()


def test_the_queue_may_fill_up_while_the_inputs_are_copied(runtime):
    runtime.hold(0)
    with open_queue(runtime, 1) as queue:
        queue.submit(task(0))
        runtime.wait_inside(0)
        with pytest.raises(QueueFullError):
            queue.submit(Racing(task(1), lambda: queue.submit(task(2))))
        runtime.let_go(0)


def test_the_service_may_close_while_the_inputs_are_copied(runtime):
    queue = open_queue(runtime)
    with pytest.raises(ServiceClosedError):
        queue.submit(Racing(task(1), queue.close))
    assert queue.counters().accepted == 0


def test_cancelled_tasks_free_their_places(runtime):
    runtime.hold(0)
    with open_queue(runtime, 2) as queue:
        queue.submit(task(0))
        runtime.wait_inside(0)
        for n in range(20):
            assert queue.submit(task(100 + n)).cancel()
        kept = [queue.submit(task(1)), queue.submit(task(2))]
        with pytest.raises(QueueFullError):
            queue.submit(task(3))
        assert queue.counters().waiting == 2
        runtime.let_go(0)
        assert [value_of(future.result(GUARD)) for future in kept] == [2.0, 4.0]
    assert runtime.order == [0.0, 1.0, 2.0]


def test_what_runs_is_what_was_submitted(runtime):
    runtime.hold(0)
    with open_queue(runtime) as queue:
        queue.submit(task(0))
        runtime.wait_inside(0)
        array = np.array([7], dtype=np.float32)
        inputs = {"x": array}
        future = queue.submit(inputs)
        array[:] = 99
        inputs.clear()
        runtime.let_go(0)
        assert value_of(future.result(GUARD)) == 14.0


def test_the_copy_keeps_dtype_and_byte_order(runtime):
    seen = []
    with open_queue(runtime) as queue:
        session = runtime.sessions[0]
        session.invoke = lambda inputs: seen.append(inputs["x"].dtype)
        queue.submit({"x": np.array([1], dtype=">f4")}).result(GUARD)
        queue.submit({"x": np.array([1], dtype=np.int16)}).result(GUARD)
    assert [dtype.str for dtype in seen] == [">f4", "<i2"]


def test_what_is_no_array_is_refused_before_it_is_accepted(runtime):
    with open_queue(runtime) as queue:
        with pytest.raises(ContractError, match="input 'x': expected a numpy array, got list"):
            queue.submit({"x": [1.0]})
        assert queue.counters().accepted == 0
    assert runtime.order == []


def test_outputs_are_delivered_without_another_copy(runtime):
    made = []

    def run(_inputs):
        array = np.array([1], dtype=np.float32)
        made.append(array.ctypes.data)
        return {"y": array}

    with open_queue(runtime) as queue:
        runtime.sessions[0].run = run
        outputs = queue.submit(task(1)).result(GUARD)
    assert [outputs["y"].ctypes.data] == made


def test_a_failed_run_is_its_tasks_outcome_and_nobody_elses(runtime):
    error = RunError("the run failed")
    runtime.run_errors[1.0] = error
    with open_queue(runtime) as queue:
        futures = [queue.submit(task(n)) for n in range(3)]
        assert value_of(futures[0].result(GUARD)) == 0.0
        assert futures[1].exception(GUARD) is error
        assert value_of(futures[2].result(GUARD)) == 4.0


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_base_exception_ends_the_task_but_not_the_worker(runtime, kind):
    runtime.run_errors[1.0] = kind("text that is not passed on")
    with open_queue(runtime) as queue:
        failed, after = queue.submit(task(1)), queue.submit(task(2))
        error = failed.exception(GUARD)
        assert isinstance(error, RunAbortedError)
        assert str(error) == f"the run raised {kind.__name__}"
        assert isinstance(error.__cause__, kind)
        assert value_of(after.result(GUARD)) == 4.0


def test_an_error_keeps_no_payload_alive(runtime):
    runtime.run_errors[1.0] = RunError("the run failed")
    with open_queue(runtime) as queue:
        error = queue.submit(task(1)).exception(GUARD)
    link, names = error.__traceback__, []
    while link is not None:
        names.append(link.tb_frame.f_code.co_name)
        assert link.tb_frame.f_locals == {}
        link = link.tb_next
    assert "invoke" in names, "the traceback still says where it failed"


def test_a_wait_that_times_out_leaves_the_task_tracked(runtime):
    runtime.hold(1)
    with open_queue(runtime) as queue:
        future = queue.submit(task(1))
        runtime.wait_inside(1)
        with pytest.raises(TimeoutError):
            future.result(0)
        assert not future.done()
        runtime.let_go(1)
        assert value_of(future.result(GUARD)) == 2.0


def test_capabilities(runtime):
    with open_queue(runtime) as queue:
        assert queue.capabilities == {
            "callbacks",
            "classes",
            "close-deadline",
            "close-reason",
            "counters",
            "deadline",
            "drain",
            "earliest-deadline",
            "fair-share",
            "fallback",
            "fifo",
            "freshness",
            "incidents",
            "journal",
            "leases",
            "lifecycle",
            "model_switch",
            "overflow:block",
            "overflow:coalesce",
            "overflow:keep-latest",
            "overflow:reject",
            "overflow:replace-oldest",
            "priority",
            "retry-link",
            "run-budget",
            "running_cancel",
            "shapes",
            "states",
            "tells-dequeue",
            "unhealthy",
        }
        assert not queue.known_bad
