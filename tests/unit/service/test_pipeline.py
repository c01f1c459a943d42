import collections
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, wait

import numpy as np
import pytest
from service_fakes import GUARD
from under_control import instrumented, swap

from harness.service.errors import QueueFullError, ReplacedError, RunAbortedError, ServiceClosedError
from harness.service.hold import BufferOwnershipError
from harness.service.pipeline import Pipeline
from harness.service.requests import OverflowPolicy


def buffers(number):
    return [{"x": np.zeros(4, np.float32)} for _ in range(number)]


def prepare(value, hold):
    hold["x"][:] = value


def double(_, hold):
    hold["x"][:] *= 2


def finish(_, hold):
    return hold["x"].copy()


STAGES = {"prepare": prepare, "infer": double, "finish": finish}


class Gate:
    """A stage that waits for the test."""

    def __init__(self, stage):
        self.stage = stage
        self.entered = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def __call__(self, value, hold):
        self.entered.release()
        assert self.go.acquire(timeout=GUARD)
        return self.stage(value, hold)

    def wait_inside(self):
        assert self.entered.acquire(timeout=GUARD)


def test_items_pass_every_stage_in_order_and_each_has_its_own_data():
    seen = {name: [] for name in STAGES}

    def noting(name):
        def stage(value, hold):
            result = STAGES[name](value, hold)
            seen[name].append(int(hold["x"][0]))
            return result

        return stage

    with Pipeline({name: noting(name) for name in STAGES}, buffers(2)) as made:
        futures = [made.submit(number) for number in range(50)]
        assert [future.result(GUARD).tolist() for future in futures] == [[2.0 * n] * 4 for n in range(50)]
    assert seen == {
        "prepare": list(range(50)), "infer": list(range(0, 100, 2)), "finish": list(range(0, 100, 2)),
    }  # fmt: skip
    counters = made.counters()
    assert (counters.accepted, counters.finished, counters.in_flight, counters.free_buffers) == (50, 50, 0, 2)
    assert counters.breaches == 0


def test_a_fixed_number_of_buffers_holds_back_whoever_submits():
    gate = Gate(double)
    made = Pipeline({**STAGES, "infer": gate}, buffers(2), overflow=OverflowPolicy.BLOCK, block_seconds=0.05)
    futures = [made.submit(number) for number in range(3)]
    gate.wait_inside()
    with pytest.raises(QueueFullError):
        made.submit(3)
    assert made.counters().free_buffers == 0
    assert (made.counters().waiting, made.counters().in_flight) == (1, 2)
    for _ in range(3):
        gate.go.release()
    assert [future.result(GUARD)[0] for future in futures] == [0, 2, 4]
    made.close()


def blocked_submitter(made, got, value):
    def submit():
        try:
            got.append(made.submit(value))
        except ServiceClosedError as error:
            got.append(error)

    thread = threading.Thread(target=submit)
    thread.start()
    thread.join(0.05)
    assert thread.is_alive(), "there is no place"
    return thread


def full_pipeline():
    gate = Gate(double)
    made = Pipeline({**STAGES, "infer": gate}, buffers(1))
    made.submit(0)
    gate.wait_inside()
    made.submit(1)
    return made, gate


def test_a_blocked_submitter_goes_on_when_a_place_is_free():
    (made, gate), got = full_pipeline(), []
    blocked = blocked_submitter(made, got, 2)
    for _ in range(3):
        gate.go.release()
    blocked.join(GUARD)
    assert got[0].result(GUARD)[0] == 4
    made.close()


def test_a_blocked_submitter_is_told_when_there_will_never_be_a_place():
    (made, gate), got = full_pipeline(), []
    blocked = blocked_submitter(made, got, 2)
    closer = threading.Thread(target=made.close)
    closer.start()
    blocked.join(GUARD)
    assert isinstance(got[0], ServiceClosedError)
    for _ in range(2):
        gate.go.release()
    closer.join(GUARD)
    assert made.counters().finished == 2


def test_reject_answers_at_once():
    gate = Gate(prepare)
    made = Pipeline({**STAGES, "prepare": gate}, buffers(1), overflow=OverflowPolicy.REJECT)
    made.submit(0)
    gate.wait_inside()
    made.submit(1)
    with pytest.raises(QueueFullError):
        made.submit(2)
    gate.go.release()
    gate.go.release()
    made.close()
    assert made.counters().finished == 2


def test_replace_oldest_drops_frames_and_tells_their_owners():
    gate = Gate(prepare)
    made = Pipeline({**STAGES, "prepare": gate}, buffers(2), overflow=OverflowPolicy.REPLACE_OLDEST)
    first = made.submit(0)
    gate.wait_inside()
    frames = [made.submit(number) for number in range(1, 6)]
    for frame in frames[:-1]:
        with pytest.raises(ReplacedError):
            frame.result(GUARD)
    for _ in range(2):
        gate.go.release()
    assert first.result(GUARD)[0] == 0
    assert frames[-1].result(GUARD)[0] == 10
    made.close()
    assert made.counters().replaced == 4


@pytest.mark.parametrize("where", list(STAGES))
def test_a_stage_that_raises_fails_its_item_alone_and_its_buffer_comes_back(where):
    def failing(value, hold):
        if hold["x"][0] in {6, 3} or value == 3:
            raise ValueError(where)
        return STAGES[where](value, hold)

    with Pipeline({**STAGES, where: failing}, buffers(1)) as made:
        futures = [made.submit(number) for number in range(6)]
        wait(futures, GUARD)
        for number, future in enumerate(futures):
            if number == 3:
                with pytest.raises(ValueError, match=where):
                    future.result(0)
            else:
                assert future.result(0)[0] == 2 * number
        assert made.counters().free_buffers == 1
        assert made.counters().failed == 1


def test_an_exit_in_a_stage_ends_neither_the_stage_nor_the_caller():
    def leave(value, _):
        if value == 0:
            raise SystemExit
        return value

    with Pipeline({"leave": leave}, buffers(1)) as made:
        with pytest.raises(RunAbortedError, match="SystemExit"):
            made.submit(0).result(GUARD)
        assert made.submit(1).result(GUARD) == 1


def test_a_stage_that_keeps_a_buffer_can_not_touch_it_afterwards():
    kept = []

    def keeping(value, hold):
        prepare(value, hold)
        kept.append((hold, hold["x"]))

    def touching(_, hold):
        hold["x"][:] *= 2
        old_hold, old_view = kept[0]
        with pytest.raises(ValueError, match="read-only"):
            old_view[0] = 99
        old_hold["x"][0] = 99

    with Pipeline({"prepare": keeping, "infer": touching, "finish": finish}, buffers(2)) as made:
        with pytest.raises(BufferOwnershipError, match="own the buffer"):
            made.submit(1).result(GUARD)
        with pytest.raises(BufferOwnershipError):
            kept[0][0]["x"]
        assert made.counters().breaches == 2


def test_another_thread_is_refused_while_the_stage_works():
    errors = []

    def lending(_, hold):
        def intrude():
            try:
                hold["x"][0] = 1
            except BufferOwnershipError as error:
                errors.append(str(error))

        thread = threading.Thread(target=intrude)
        thread.start()
        thread.join()
        return hold.names()

    with Pipeline({"lend": lending}, buffers(1)) as made:
        assert made.submit(None).result(GUARD) == ("x",)
        assert made.counters().breaches == 1
    assert errors == ["another thread's buffer"]


@pytest.mark.parametrize("leak", [lambda x: x, lambda x: x[1:], lambda x: {"y": x}, lambda x: (1, [x[::2]])])
def test_a_result_that_is_part_of_the_buffer_is_not_delivered(leak):
    with Pipeline({"finish": lambda _, hold: leak(hold["x"])}, buffers(1)) as made:
        with pytest.raises(BufferOwnershipError, match="must copy"):
            made.submit(0).result(GUARD)
        assert made.counters().breaches == 1


def test_an_item_that_waits_can_be_cancelled_and_frees_its_place_at_once():
    gate = Gate(prepare)
    made = Pipeline({**STAGES, "prepare": gate}, buffers(1), overflow=OverflowPolicy.REJECT)
    running = made.submit(0)
    gate.wait_inside()
    waiting = made.submit(1)
    assert waiting.cancel()
    assert wait([waiting], GUARD).done
    made.submit(2)
    assert not running.cancel()
    gate.go.release()
    gate.go.release()
    made.close()
    assert (made.counters().cancelled, made.counters().finished) == (1, 2)


def test_a_drain_runs_every_item_and_an_abort_runs_no_further_stage():
    for drain in (True, False):
        gate, ran = Gate(prepare), []
        made = Pipeline({**STAGES, "prepare": gate, "infer": lambda *_, ran=ran: ran.append(1)}, buffers(1))
        first = made.submit(0)
        gate.wait_inside()
        second = made.submit(1)
        closers = [threading.Thread(target=made.close, kwargs={"drain": drain}) for _ in range(2)]
        for closer in closers:
            closer.start()
        if not drain:
            with pytest.raises(CancelledError):
                second.result(GUARD)
        gate.go.release()
        gate.go.release()
        for closer in closers:
            closer.join(GUARD)
            assert not closer.is_alive()
        if drain:
            assert wait([first, second], 0).not_done == set()
            assert len(ran) == 2
        else:
            with pytest.raises(ServiceClosedError):
                first.result(0)
            assert ran == []
        with pytest.raises(ServiceClosedError):
            made.submit(2)
        made.close()
        assert made.counters().free_buffers == 1


def test_close_from_a_callback_asks_and_returns():
    made = Pipeline(STAGES, buffers(1))
    future = made.submit(0)
    done = threading.Event()
    future.add_done_callback(lambda _: (made.close(), done.set()))
    assert done.wait(GUARD)
    made.close()


def test_a_callback_that_raises_harms_no_stage(caplog):
    gate = Gate(finish)
    with Pipeline({**STAGES, "finish": gate}, buffers(1)) as made:
        future = made.submit(0)
        future.add_done_callback(lambda _: sys.exit(3))
        gate.go.release()
        gate.go.release()
        assert made.submit(1).result(GUARD)[0] == 2
    assert "SystemExit" in caplog.text


def test_throughput_follows_the_slowest_stage_and_latency_is_another_figure():
    def slow(_, hold):
        time.sleep(0.02)
        hold["x"][:] *= 2

    with Pipeline({**STAGES, "infer": slow}, buffers(3)) as made:
        futures = [made.submit(number) for number in range(20)]
        wait(futures, GUARD)
        times = made.times()
    assert times.slowest == "infer"
    assert times.stages["infer"] >= 0.02
    assert times.rate <= 50
    assert times.latency_over == 20
    assert times.latency_median >= 2 * times.stages["infer"], "an item waits behind those ahead of it"
    assert times.latency_p99 >= times.latency_median
    empty = Pipeline(STAGES, buffers(1))
    assert (empty.times().rate, empty.times().latency_p99) == (0.0, 0.0)
    empty.close()


@pytest.mark.parametrize(
    ("stages", "pool", "more"),
    [
        ({}, buffers(1), {}),
        (STAGES, [], {}),
        (STAGES, buffers(1), {"backlog": 0}),
        (STAGES, buffers(1), {"overflow": OverflowPolicy.COALESCE}),
        (STAGES, [{"x": np.zeros(4)[:2]}, {"x": np.zeros(4)}] * 2, {}),
    ],
)
def test_what_makes_no_pipeline_is_refused(stages, pool, more):
    with pytest.raises(ValueError, match=r"needs at least|overflow must|shares memory"):
        Pipeline(stages, pool, **more)


NO_THREAD_ANY_MORE = """
def refuse(thread):
    raise RuntimeError("can't create new thread at interpreter shutdown")
threading.Thread.start = refuse
"""
"""As CPython 3.12 is from the beginning of its exit."""


@pytest.mark.parametrize("at_exit", ["", NO_THREAD_ANY_MORE])
def test_a_pipeline_left_open_ends_with_the_interpreter(at_exit):
    code = """
import threading
import time
import numpy as np
from harness.service.pipeline import Pipeline
made = Pipeline({"slow": lambda value, hold: time.sleep(0.2)}, [{"x": np.zeros(1)}])
made.submit(0)
print("left", flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", code + at_exit], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")


def stress(made, seed, outcomes):
    chance = random.Random(seed)
    for turn in range(300):
        value = seed * 1000 + turn
        try:
            future = made.submit(value)
        except QueueFullError:
            time.sleep(0)
            continue
        if chance.random() < 0.2:
            future.cancel()
        outcomes.append((value, future))


@pytest.mark.parametrize("overflow", [OverflowPolicy.BLOCK, OverflowPolicy.REJECT, OverflowPolicy.REPLACE_OLDEST])
def test_under_stress_every_accepted_item_ends_once_with_its_own_data(overflow):
    made = Pipeline(STAGES, buffers(3), overflow=overflow, backlog=4)
    outcomes = []
    threads = [threading.Thread(target=stress, args=(made, seed, outcomes)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(GUARD * 3)
    made.close()
    ends = collections.Counter(stressed(*each) for each in outcomes)
    told = made.counters()
    assert set(ends) <= {"own", "replaced", "cancelled"}
    assert (ends["own"], ends["replaced"], ends["cancelled"]) == (told.finished, told.replaced, told.cancelled)
    assert (told.accepted, told.in_flight, told.waiting) == (len(outcomes), 0, 0)
    assert (told.free_buffers, told.breaches) == (3, 0)
    assert ends["own"] > 0


def stressed(value, future):
    if not future.done() or future.cancelled() or future.exception(0) is not None:
        return end_of(value, future)
    return "own" if future.result(0).tolist() == [2.0 * value] * 4 else "other"


# -- under control -----------------------------------------------------------------------------------------------------


def exact(module, close):
    """Three items by two clients through two buffers; each result must be its item's, each buffer back."""
    stages = {
        "prepare": lambda value, hold: (time.sleep(0), hold["x"].fill(value))[1],
        "infer": lambda _, hold: (time.sleep(0), hold["x"].__imul__(2))[0],
        "finish": lambda _, hold: (time.sleep(0), float(hold["x"][0]))[1],
    }

    def program():
        made = module.Pipeline(stages, buffers(2), overflow=OverflowPolicy.REPLACE_OLDEST)
        results = []
        threads = [threading.Thread(target=submit_all, args=(made, *values, results)) for values in ((1, 2), (3,))]
        for thread in threads:
            thread.start()
        for thread in threads if close is None else ():
            thread.join()
        made.close(drain=close is not False)
        for thread in threads:
            thread.join()
        ends = {end_of(value, future) for value, future in results}
        told = made.counters()
        return tuple(sorted(ends)), told.in_flight, told.waiting, told.free_buffers, told.breaches

    return program


def submit_all(made, *values_and_results):
    *values, results = values_and_results
    for value in values:
        try:
            results.append((value, made.submit(value)))
        except ServiceClosedError:
            results.append((value, None))


ENDS = {ReplacedError: "replaced", ServiceClosedError: "aborted"}


def end_of(value, future):
    if future is None or not future.done():
        return "refused" if future is None else "pending"
    if future.cancelled():
        return "cancelled"
    error = future.exception(0)
    if error is not None:
        return ENDS.get(type(error), type(error).__name__)
    return "own" if future.result(0) == 2.0 * value else "other"


EARLY_RETURN = swap((
    """    def _hand_on(self, number: int, item: Item, seconds: float | None) -> None:
        # The lock is the fence: what this stage wrote happened before whatever the next one reads.
        with self._lock:
""",
    """    def _hand_on(self, number: int, item: Item, seconds: float | None) -> None:
        with self._lock:
            self._free.append(item.buffer)
            self._arrived[0].notify()
""",
), (
    """            assert item.buffer not in self._free, "a buffer has one owner"
            self._free.append(item.buffer)
""",
    """            pass
"""
))  # fmt: skip
FORGOTTEN_BUFFER = swap((
    """            self._free.append(item.buffer)
            if committed :=""",
    """            self._free.extend([item.buffer] if item.failure is None else [])
            if committed :=""",
))  # fmt: skip
SILENT_REPLACE = swap((
    """            _settle(item.future, None, ReplacedError("a newer item took its place"))""",
    """            pass""",
))  # fmt: skip


def test_a_pipeline_that_reuses_a_buffer_too_early_mixes_items_up(search):
    found = search.results(exact(instrumented("pipeline", EARLY_RETURN), None), 200)
    assert any("other" in ends for ends, *_ in found)


def test_a_pipeline_that_forgets_the_buffer_of_a_failed_item_is_found(search):
    def program_over(module):
        def program():
            made = module.Pipeline({"fail": lambda value, _: 1 / value}, buffers(2))
            futures = [made.submit(value) for value in (0, 1)]
            made.close()
            return tuple(type(future.exception(0)).__name__ for future in futures), made.counters().free_buffers

        return program

    assert set(search.results(program_over(instrumented("pipeline", FORGOTTEN_BUFFER)), 50)) == {
        (("ZeroDivisionError", "NoneType"), 1)
    }
    assert set(search.results(program_over(instrumented("pipeline")), 200)) == {(("ZeroDivisionError", "NoneType"), 2)}


def test_a_pipeline_that_drops_frames_silently_is_found(search):
    found = search.results(exact(instrumented("pipeline", SILENT_REPLACE), None), 100)
    assert any("pending" in ends for ends, *_ in found)


@pytest.mark.parametrize(
    ("close", "allowed", "executions"),
    [
        (None, {"own", "replaced"}, 2_000),
        (True, {"own", "replaced", "refused"}, 500),
        (False, {"own", "replaced", "refused", "cancelled", "aborted"}, 500),
    ],
)
def test_ours_never_does(search, close, allowed, executions):
    found = search.results(exact(instrumented("pipeline"), close), executions)
    ends = {end for each, *_ in found for end in each}
    assert ends == allowed, "each end that is allowed did happen, and no other"
    assert {tuple(rest) for _, *rest in found} == {(0, 0, 2, 0)}


def test_an_item_of_arrays_that_waits_can_be_cancelled():
    gate = Gate(double)
    with Pipeline({**STAGES, "infer": gate}, buffers(1), backlog=3) as made:
        made.submit(0)
        gate.wait_inside()
        waiting = [made.submit(np.full(4, number, np.float32)) for number in range(3)]
        assert waiting[2].cancel()
        assert wait([waiting[2]], timeout=0).done
        assert made.counters().waiting == 2
        for _ in range(3):
            gate.go.release()


def test_an_item_can_be_cancelled_until_the_stage_that_commits_and_its_buffer_comes_back(search):
    def program_over(module):
        def program():
            stages = {"prepare": lambda value, _: value, "infer": lambda value, _: value}
            made = module.Pipeline(stages, buffers(2), backlog=2, commits="infer")
            first, second = made.submit(1), made.submit(2)
            answers = []
            thread = threading.Thread(target=lambda: answers.append(second.cancel()))
            thread.start()
            made.close()
            thread.join()
            told = wait([second], timeout=0).done == {second}
            counters = made.counters()
            agrees = answers[0] == second.cancelled() and told and first.result(0) == 1
            return agrees, counters.free_buffers, counters.in_flight, counters.cancelled == answers[0]

        return program

    assert set(search.results(program_over(instrumented("pipeline")), 500)) == {(True, 2, 0, True)}


def test_cancels_under_control_end_each_item_once(search):
    def program_over(module):
        def program():
            made = module.Pipeline({"copy": lambda value, _: value}, buffers(1), overflow=OverflowPolicy.BLOCK)
            first, second = made.submit(1), made.submit(2)
            answers = []
            thread = threading.Thread(target=lambda: answers.append(second.cancel()))
            thread.start()
            third = made.submit(3)
            made.close()
            thread.join()
            agrees = answers[0] == second.cancelled()
            return agrees, first.result(0), third.result(0), made.counters().finished + made.counters().cancelled

        return program

    assert set(search.results(program_over(instrumented("pipeline")), 400)) == {(True, 1, 3, 3)}
