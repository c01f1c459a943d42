"""ThreadPoolExecutor: submit, map, shutdown."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

from litmus_threads import LATE, SOON, beside


def _end(future):
    try:
        return future.result(LATE)
    except CancelledError:
        return "cancelled"
    except KeyError:
        return "error"
    except TimeoutError:
        return "time-out"


def _fail():
    raise KeyError("k")


def one_submit(trace):
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(lambda: 1).result()


def one_worker_keeps_the_order(trace):
    with ThreadPoolExecutor(1) as executor:
        for name in "ab":
            executor.submit(trace.append, name)
    return tuple(trace)


def two_workers_need_not(trace):
    with ThreadPoolExecutor(2) as executor:
        for name in "ab":
            executor.submit(trace.append, name)
    return tuple(trace)


def map_keeps_the_order(trace):
    with ThreadPoolExecutor(2) as executor:
        return tuple(executor.map(lambda number: number * 2, [1, 2]))


def a_cancel_against_the_worker(trace):
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(trace.append, "ran")
        answer = future.cancel()
    return answer, tuple(trace)


def a_shutdown_that_cancels(trace):
    executor = ThreadPoolExecutor(1)
    futures = [executor.submit(abs, -number) for number in (1, 2)]
    executor.shutdown(wait=True, cancel_futures=True)
    return tuple(_end(future) for future in futures)


def a_shutdown_against_a_submit(trace):
    executor = ThreadPoolExecutor(1)

    def submit():
        try:
            return _end(executor.submit(lambda: 1))
        except RuntimeError:
            return "refused"

    answer = beside(lambda: executor.shutdown(wait=False), submit)
    executor.shutdown()
    return answer


def a_task_that_fails(trace):
    with ThreadPoolExecutor(1) as executor:
        futures = [executor.submit(_fail), executor.submit(lambda: 1)]
        return tuple(_end(future) for future in futures)


def a_result_that_is_not_waited_for_long(trace):
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(lambda: 1)
        try:
            answer = future.result(SOON)
        except TimeoutError:
            answer = "time-out"
    return answer, future.result()


def where_a_callback_runs(trace):
    me = threading.current_thread()
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(lambda: 1)
        future.add_done_callback(lambda _: trace.append(threading.current_thread() is me))
    return tuple(trace)


def a_worker_prepares_itself(trace):
    with ThreadPoolExecutor(1, initializer=trace.append, initargs=("ready",)) as executor:
        executor.submit(trace.append, "ran")
        seen = len(trace)
    return seen, tuple(trace)
