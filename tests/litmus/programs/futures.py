"""Future, wait and as_completed."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import threading
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, InvalidStateError, as_completed, wait

from litmus_threads import LATE, SOON, beside, together


def _result(future, timeout):
    try:
        return future.result(timeout)
    except TimeoutError:
        return "time-out"
    except CancelledError:
        return "cancelled"
    except KeyError:
        return "error"


def a_cancel_against_the_run(trace):
    future = Future()

    def work():
        if future.set_running_or_notify_cancel():
            future.set_result("done")

    return beside(work, future.cancel), future.cancelled(), future.done()


def a_result_against_a_time_out(trace):
    future = Future()
    return beside(lambda: future.set_result(1), lambda: _result(future, SOON))


def a_cancel_wakes_one_that_waits(trace):
    future = Future()
    return beside(future.cancel, lambda: _result(future, LATE))


def an_error_wakes_one_that_waits(trace):
    future = Future()
    return beside(lambda: future.set_exception(KeyError("k")), lambda: _result(future, SOON))


def a_callback_added_while_it_ends(trace):
    future = Future()

    def add():
        future.add_done_callback(lambda _: trace.append(threading.current_thread() is me))

    me = threading.current_thread()
    beside(lambda: future.set_result(1), add)
    return tuple(trace)


def two_callbacks(trace):
    future = Future()

    def add():
        future.add_done_callback(lambda _: trace.append("first"))
        future.add_done_callback(lambda _: trace.append("second"))

    beside(lambda: future.set_result(1), add)
    return tuple(trace)


def two_set_the_same_future(trace):
    future = Future()

    def set_to(value):
        try:
            future.set_result(value)
        except InvalidStateError:
            trace.append(value)

    together(lambda: set_to(1), lambda: set_to(2))
    return future.result(), tuple(trace)


def two_cancels(trace):
    future = Future()
    return beside(lambda: trace.append(future.cancel()), future.cancel), tuple(trace)


def asked_whether_it_is_done_then_for_its_result(trace):
    future = Future()
    return beside(lambda: future.set_result(1), lambda: (future.done(), _result(future, 0)))


def asked_whether_it_runs(trace):
    future = Future()

    def work():
        future.set_running_or_notify_cancel()
        future.set_result(1)

    return beside(work, lambda: (future.running(), future.done()))


def wait_for_the_first(trace):
    first, second = Future(), Future()
    done = beside(
        lambda: (first.set_result(1), second.set_result(2)),
        lambda: wait([first, second], return_when=FIRST_COMPLETED).done,
    )
    return tuple(sorted(future.result() for future in done))


def wait_for_all_with_a_time_out(trace):
    first, second = Future(), Future()
    done = beside(lambda: (first.set_result(1), second.set_result(2)), lambda: wait([first, second], timeout=SOON).done)
    return tuple(sorted(future.result() for future in done))


def wait_does_not_see_a_cancel_until_it_is_told(trace):
    future = Future()

    def work():
        future.cancel()
        future.set_running_or_notify_cancel()

    return beside(work, lambda: len(wait([future], timeout=SOON).done)), future.cancelled()


def as_they_complete(trace):
    first, second = Future(), Future()
    futures = {first: 1, second: 2}
    together(
        lambda: first.set_result(1),
        lambda: (second.set_result(2), trace.extend(futures[future] for future in as_completed(futures))),
    )
    return tuple(trace)


def as_they_complete_with_a_time_out(trace):
    future = Future()

    def main():
        try:
            return [each.result() for each in as_completed([future], timeout=SOON)] == [1]
        except TimeoutError:
            return "time-out"

    return beside(lambda: future.set_result(1), main)


def a_callback_that_fails_harms_nobody(trace):
    future = Future()

    def fail(_):
        trace.append("called")
        future.cancel()

    future.add_done_callback(fail)
    return beside(lambda: future.set_result(1), lambda: _result(future, LATE)), tuple(trace)
