"""What one execution leaves in the process is not there in the next."""

from __future__ import annotations

import concurrent.futures
import contextvars
import threading

from harness.engine.strategies.scripted import Scripted

SEEN: contextvars.ContextVar[str] = contextvars.ContextVar("SEEN", default="nothing")


def test_a_thread_begins_without_the_context_variables_of_whom_its_carrier_carried_before(bench):
    def program(_):
        found = []

        def body():
            found.append(SEEN.get())
            SEEN.set("left behind")

        for _turn in range(2):
            thread = threading.Thread(target=body)
            thread.start()
            thread.join()
        return tuple(found)

    assert {run.result for run in bench.many(program)} == {("nothing", "nothing")}


def test_a_modules_own_executor_goes_on_in_the_next_execution(bench):
    executors = []

    def program(_):
        if not executors:
            executors.append(concurrent.futures.ThreadPoolExecutor(2))
        return executors[0].submit(lambda: "ran").result()

    runs = bench.many(program)
    assert len(runs) > 1
    assert {run.result for run in runs} == {"ran"}


def test_the_threads_of_an_execution_are_on_no_list_of_the_process(bench):
    def program(_trace):
        thread = threading.Thread(target=str)
        thread.start()
        thread.join()
        return thread

    kept = bench.once(program, Scripted()).result
    real = threading.Thread(target=str)
    assert real in threading._dangling
    assert kept not in threading._dangling


def test_a_thread_that_was_given_up_before_it_began_is_not_listed_in_the_next_execution(bench):
    def program(_trace):
        threads = [threading.Thread(target=str) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return threading.active_count()

    class GivesUp(Scripted):
        def choose(self, *_):
            return None

    alone = threading.active_count()
    assert bench.once(program, GivesUp()).kernel.pruned
    assert bench.once(program, Scripted()).result == alone + 1, "with the program's own thread"


def test_an_event_has_one_condition_however_many_ask():
    event = threading.Event()
    assert "_cond" not in vars(event)
    assert event._cond is event._cond
    waiting = threading.Thread(target=event.wait)
    waiting.start()
    event.set()
    waiting.join()
    assert event.wait(0)
    event.clear()
    assert not event.wait(0)
