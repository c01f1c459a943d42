"""Faults inside native code, seen through the adapters: each is really injected, and what it leaves is counted."""

import gc
import math
import threading
import warnings

import numpy as np
import pytest
from native_cases import answer, truth

from adapters.base import DelegateInitError, ModelLoadError, RunError
from harness.models.reference import resolve

pytestmark = pytest.mark.runtime

FAILS_TO_OPEN = (DelegateInitError, ModelLoadError)


def test_without_a_fault_the_library_computes_what_the_model_computes(native):
    session = native.open()
    assert [answer(session, number) for number in (1, 2, 3)] == [truth(1), truth(2), truth(3)]
    counters = native.faults.counters()
    assert (counters.invokes, counters.live_kernels, counters.strikes) == (3, 1, 0)
    session.close()


@pytest.mark.parametrize("model", ["affine", "permutation", "stateful", "constant", "slow"])
def test_the_delegate_computes_the_built_in_models_bit_for_bit(delegate, model):
    bytes_of = resolve(f"builtin:{model}", (".tflite",))
    session = delegate.adapter.open(bytes_of, delegate.faults.delegate, delegate.faults.options(delegate.name))
    plain = delegate.adapter.open(bytes_of, "builtin", {})
    assert session.delegate.actual.startswith("external:")
    assert not session.delegate.fallback
    for seed in range(3):
        rng = np.random.default_rng(seed)
        inputs = {spec.name: rng.random(spec.shape, np.float32) for spec in session.contract.inputs if spec.name == "x"}
        if len(session.contract.inputs) == 2:
            inputs["n"] = np.array([seed], np.int32)
        np.testing.assert_array_equal(session.run(inputs)["y"], plain.run(inputs)["y"])
    assert delegate.faults.counters().invokes >= 3
    session.close()


def test_wrong_output(native):
    session = native.open()
    native.faults.arm("wrong", nth=2)
    seen = [answer(session, number) for number in (1, 2, 3)]
    assert (seen[0], seen[2]) == (truth(1), truth(3))
    assert seen[1] == [value + 1.0 for value in truth(2)]


def test_stale_output_is_the_previous_tasks(native):
    session = native.open()
    native.faults.arm("stale", nth=2)
    assert [answer(session, number) for number in (1, 2, 3)] == [truth(1), truth(1), truth(3)]


def test_nan_output(native):
    session = native.open()
    native.faults.arm("nan")
    assert all(math.isnan(value) for value in answer(session, 1))
    assert answer(session, 2) == truth(2)


def test_invoke_fails_once(native):
    session = native.open()
    native.faults.arm("fail", nth=2)
    assert answer(session, 1) == truth(1)
    with pytest.raises(RunError):
        answer(session, 2)
    assert answer(session, 3) == truth(3)
    assert native.faults.counters().strikes == 1


def test_invoke_fails_from_then_on(native):
    session = native.open()
    native.faults.arm("fail", nth=2, times=None)
    assert answer(session, 1) == truth(1)
    for _ in range(5):
        with pytest.raises(RunError):
            answer(session, 2)
    native.faults.disarm()
    assert answer(session, 3) == truth(3)
    assert native.faults.counters().strikes == 5


def test_invoke_fails_a_number_of_times(native):
    session = native.open()
    native.faults.arm("fail", times=2)
    for _ in range(2):
        with pytest.raises(RunError):
            answer(session, 1)
    assert answer(session, 1) == truth(1)


def test_a_fault_for_one_instance_spares_the_others(native):
    first, second = native.open(), native.open()
    native.faults.arm("wrong", times=None, instance=native.faults.counters().newest_instance)
    for number in range(3):
        assert answer(first, number) == truth(number)
        assert answer(second, number) != truth(number)


def test_slow_lasts_its_real_time_and_succeeds(native):
    import time

    session = native.open()
    native.faults.arm("slow", seconds=0.2)
    began = time.monotonic()
    assert answer(session, 1) == truth(1)
    assert time.monotonic() - began >= 0.2


def test_hang_is_held_until_the_gate_opens_while_python_goes_on(native):
    session = native.open()
    native.faults.arm("hang")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(answer(session, 7)))
    thread.start()
    assert native.faults.wait_held(1, seconds=20)
    assert native.faults.counters().held == 1
    assert thread.is_alive()
    assert not answers
    native.faults.open_gate()
    thread.join(20)
    assert answers == [truth(7)]
    counters = native.faults.counters()
    assert (counters.held, counters.gate_timeouts) == (0, 0)


def test_letting_go_frees_the_call_held_now_and_holds_the_next(native):
    session = native.open()
    native.faults.arm("hang", times=2)
    answers, came = [], threading.Semaphore(0)

    def run():
        for number in (1, 2):
            answers.append(answer(session, number))
            came.release()

    thread = threading.Thread(target=run)
    thread.start()
    for done in ([], [truth(1)]):
        assert native.faults.wait_held(1, seconds=20)
        assert answers == done
        native.faults.let_go()
        assert came.acquire(timeout=20)
    thread.join(20)
    assert answers == [truth(1), truth(2)]


def test_an_open_gate_holds_nobody_and_a_closed_one_does_again(native):
    session = native.open()
    native.faults.arm("hang", times=2, seconds=0.1)
    native.faults.open_gate()
    assert answer(session, 1) == truth(1)
    native.faults.close_gate()
    with pytest.raises(RunError):
        answer(session, 2)
    assert native.faults.counters().gate_timeouts == 1


def test_hang_that_nobody_lets_go_ends_by_its_safety_time_as_a_failure(native):
    session = native.open()
    native.faults.arm("hang", seconds=0.1)
    with pytest.raises(RunError):
        answer(session, 1)
    assert native.faults.counters().gate_timeouts == 1
    assert answer(session, 2) == truth(2)


def test_wait_held_gives_up(native):
    assert not native.faults.wait_held(1, seconds=0.05)


@pytest.mark.parametrize("point", ["create", "prepare", "init", "allocate"])
def test_each_step_of_opening_fails_and_leaves_nothing(native, point):
    if native.name == "onnxruntime" and point in {"prepare", "allocate"}:
        with pytest.raises(ValueError, match="no such point"):
            native.faults.arm("fail", point=point)
        return
    native.faults.arm("fail", point=point)
    with pytest.raises(FAILS_TO_OPEN) as caught:
        native.open()
    assert native.faults.counters().strikes == 1
    assert str(native.faults.path.parent) not in str(caught.value)
    assert native.live() == {"live_delegates": 0, "live_kernels": 0, "held": 0}
    session = native.open()
    assert answer(session, 1) == truth(1)
    session.close()
    assert native.live() == {"live_delegates": 0, "live_kernels": 0, "held": 0}


@pytest.mark.parametrize("point", ["create", "prepare", "init", "allocate"])
def test_a_delegate_that_does_not_start_falls_back_where_that_is_allowed(delegate, point):
    delegate.faults.arm("fail", point=point)
    session = delegate.open(fallback=True)
    assert (session.delegate.actual, session.delegate.fallback) == ("builtin", True)
    assert answer(session, 1) == truth(1)
    assert delegate.live()["live_delegates"] == 0


def test_fault_given_as_delegate_options(delegate):
    session = delegate.open(**{"delegate.kind": "fail", "delegate.nth": 2, "delegate.times": 0})
    assert answer(session, 1) == truth(1)
    for _ in range(2):
        with pytest.raises(RunError):
            answer(session, 2)


def test_bound_to_its_thread_the_kernel_refuses_another(native):
    session = native.open()
    native.faults.bind_threads()
    assert answer(session, 1) == truth(1)
    errors = []

    def elsewhere():
        try:
            answer(session, 2)
        except RunError as error:
            errors.append(type(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(20)
    assert errors == [RunError]
    assert native.faults.counters().foreign_invokes == 1
    assert answer(session, 3) == truth(3)


def test_not_bound_another_thread_is_only_counted(native):
    session = native.open()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(answer(session, 2)))
    thread.start()
    thread.join(20)
    assert answers == [truth(2)]
    assert native.faults.counters().foreign_invokes == 1


def test_destruction_on_another_thread_is_counted(native):
    session = native.open()
    thread = threading.Thread(target=session.close)
    thread.start()
    thread.join(20)
    counters = native.faults.counters()
    assert (counters.foreign_destroys, counters.destroys, counters.live_kernels) == (1, 1, 0)


def test_close_while_a_call_is_held_frees_only_after_it(native):
    """The session's own reference is dropped at once; the runtime keeps the kernel until the call is back."""
    session = native.open()
    native.faults.arm("hang")
    answers = []

    def run():
        try:
            answers.append(answer(session, 5))
        except Exception as error:  # noqa: BLE001 - the session was closed under it
            answers.append(type(error).__name__)

    thread = threading.Thread(target=run)
    thread.start()
    assert native.faults.wait_held(1, seconds=20)
    session.close()
    assert native.faults.counters().live_kernels == 1
    native.faults.open_gate()
    thread.join(20)
    assert answers == ["SessionClosedError"]
    counters = native.faults.counters()
    assert (counters.live_kernels, counters.freed_in_flight, counters.destroyed_in_use) == (0, 0, 0)


def test_two_calls_in_one_onnx_runtime_session_overlap(operator):
    session = operator.open()
    operator.faults.arm("hang", times=2)
    answers = {}
    threads = [threading.Thread(target=lambda n=n: answers.update({n: answer(session, n)})) for n in (1, 2)]
    for thread in threads:
        thread.start()
    assert operator.faults.wait_held(2, seconds=20)
    operator.faults.open_gate()
    for thread in threads:
        thread.join(20)
    assert answers == {1: truth(1), 2: truth(2)}
    assert operator.faults.counters().overlapping_invokes == 1


def test_hundreds_of_rounds_return_the_counters_to_zero(native):
    gc.collect()
    gc.disable()  # what only the collector returns would not be returned in time
    try:
        for number in range(200):
            session = native.open()
            assert answer(session, number) == truth(number)
            session.close()
            assert native.live() == {"live_delegates": 0, "live_kernels": 0, "held": 0}
    finally:
        gc.enable()
    counters = native.faults.counters()
    assert (counters.inits, counters.invokes, counters.destroys, counters.destroyed_in_use) == (200, 200, 200, 0)


def test_hundreds_of_failures_return_the_counters_to_zero_though_their_errors_are_kept(native):
    """A kept error keeps its frames: none may hold the interpreter, or closing a session would not free it."""
    points = ["init", "invoke", "create"] if native.name == "onnxruntime" else ["create", "prepare", "init", "invoke"]
    kept = []
    gc.collect()
    gc.disable()
    try:
        for number in range(200):
            native.faults.arm("fail", point=points[number % len(points)])
            session = None
            try:
                session = native.open()
                answer(session, number)
            except (RunError, *FAILS_TO_OPEN) as error:
                kept.append(error)
            if session is not None:
                session.close()
            assert native.live() == {"live_delegates": 0, "live_kernels": 0, "held": 0}
    finally:
        gc.enable()
    assert len(kept) == native.faults.counters().strikes == 200
    assert native.faults.counters().destroyed_in_use == 0


def test_inputs_refused_by_contract_keep_nothing_alive_either(native):
    from adapters.base import ContractError

    session = native.open()
    with pytest.raises(ContractError) as caught:
        session.run({"x": np.zeros((1, 9), np.float32)})
    session.close()
    assert native.live()["live_kernels"] == 0
    assert caught.value.__traceback__ is not None


def test_a_delegate_destroyed_before_its_interpreter_is_counted_and_not_a_crash(delegate):
    """What happens where an application drops the delegate list: tensorflow issue 95795, without the crash."""
    import importlib

    package = {"litert": "ai_edge_litert", "tflite": "tflite_runtime"}[delegate.name]
    runtime = importlib.import_module(f"{package}.interpreter")
    options = {"runtime": delegate.faults.options(delegate.name)["delegate.runtime"]}
    delegates = [runtime.load_delegate(str(delegate.faults.path), options)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interpreter = runtime.Interpreter(model_content=delegate.model.data, experimental_delegates=delegates)
    interpreter.allocate_tensors()
    delegates.clear()
    counters = delegate.faults.counters()
    assert (counters.destroyed_in_use, counters.live_delegates, counters.live_kernels) == (1, 0, 1)
    del interpreter
    assert delegate.faults.counters().live_kernels == 0


def test_a_second_run_while_one_is_held_is_refused_and_has_overwritten_its_input(delegate):
    """The Python wrapper refuses the second invoke, by an accident of its own; its inputs were written by then."""
    session = delegate.open()
    delegate.faults.arm("hang")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(answer(session, 1)))
    thread.start()
    assert delegate.faults.wait_held(1, seconds=20)
    with pytest.raises(RunError):
        answer(session, 2)
    delegate.faults.open_gate()
    thread.join(20)
    assert answers == [truth(2)]
    counters = delegate.faults.counters()
    assert (counters.invokes, counters.overlapping_invokes) == (1, 0)


def test_reset_lets_go_of_what_is_held_and_disarms(native):
    session = native.open()
    native.faults.arm("hang")
    native.faults.arm("fail", nth=2)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(answer(session, 1)))
    thread.start()
    assert native.faults.wait_held(1, seconds=20)
    native.faults.reset()
    thread.join(20)
    assert answers == [truth(1)]
    assert answer(session, 2) == truth(2)
    assert native.faults.counters().strikes == 0


def test_arming_is_safe_from_many_threads(native):
    session = native.open()
    failures = []

    def arm():
        try:
            for _ in range(50):
                native.faults.arm("slow", seconds=0.0)
                native.faults.counters()
                native.faults.disarm()
        except ValueError as error:
            failures.append(error)

    threads = [threading.Thread(target=arm) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(100):
        assert answer(session, number) == truth(number)
    for thread in threads:
        thread.join(20)
    assert not failures
