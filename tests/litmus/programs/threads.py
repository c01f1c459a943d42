"""Thread, Timer, local: start, join, identity."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import contextvars
import threading

from litmus_threads import LATE, SOON, beside, together

_CONTEXT = contextvars.ContextVar("litmus", default="fresh")


def a_timer_against_its_cancel(trace):
    timer = threading.Timer(SOON, trace.append, ("fired",))
    timer.start()
    timer.cancel()
    timer.join()
    return tuple(trace)


def a_timer_against_a_wait(trace):
    event = threading.Event()
    timer = threading.Timer(SOON, event.set)
    timer.start()
    heard = event.wait(SOON)
    timer.join()
    return heard


def two_timers_that_are_due_together(trace):
    timers = [threading.Timer(SOON, trace.append, (name,)) for name in "ab"]
    for timer in timers:
        timer.start()
    for timer in timers:
        timer.join()
    return tuple(trace)


def a_join_with_a_time_out(trace):
    event = threading.Event()
    thread = threading.Thread(target=lambda: event.wait(SOON))
    thread.start()
    thread.join(SOON)
    alive = thread.is_alive()
    event.set()
    thread.join()
    return alive, thread.is_alive()


def asked_twice_whether_it_is_alive(trace):
    thread = threading.Thread(target=lambda: None)
    thread.start()
    seen = thread.is_alive(), thread.is_alive()
    thread.join()
    return seen


def a_join_of_no_time(trace):
    thread = threading.Thread(target=lambda: trace.append("ran"))
    thread.start()
    thread.join(0)
    seen = thread.is_alive()
    thread.join()
    return seen, len(trace)


def two_join_the_same_thread(trace):
    gate = threading.Event()
    worker = threading.Thread(target=lambda: gate.wait(LATE))
    worker.start()

    def join(name):
        worker.join()
        trace.append((name, worker.is_alive()))

    together(lambda: join("a"), lambda: (gate.set(), join("b")))
    return tuple(trace)


def a_daemon_nobody_joins(trace):
    gate = threading.Event()
    worker = threading.Thread(target=lambda: (trace.append("ran"), gate.set()), daemon=True)
    worker.start()
    seen = len(trace)
    return seen, gate.wait(LATE), worker.daemon


def a_daemon_s_child_is_a_daemon(trace):
    def body():
        child = threading.Thread(target=lambda: None)
        child.start()
        child.join()
        trace.append(child.daemon)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join()
    return tuple(trace)


def a_local_is_each_thread_s_own(trace):
    own = threading.local()
    own.value = "main"

    def body(value):
        before = hasattr(own, "value")
        own.value = value
        trace.append((before, own.value))

    together(lambda: body(1), lambda: body(2))
    return tuple(trace), own.value


def a_context_is_fresh_in_each_thread(trace):
    def body():
        trace.append(_CONTEXT.get())
        _CONTEXT.set("stale")

    together(body)
    together(body)
    return tuple(trace)


def a_thread_is_started_once(trace):
    thread = threading.Thread(target=lambda: trace.append("ran"))
    thread.start()
    try:
        thread.start()
    except RuntimeError:
        trace.append("refused")
    thread.join()
    return tuple(trace)


def a_thread_does_not_join_itself(trace):
    def body():
        try:
            threading.current_thread().join()
        except RuntimeError:
            trace.append("refused")

    together(body)
    return tuple(trace)


def a_thread_not_started_is_not_joined(trace):
    thread = threading.Thread(target=lambda: None)
    try:
        thread.join()
    except RuntimeError:
        return "refused", thread.is_alive()
    return "joined"


def a_thread_starts_a_thread(trace):
    def inner():
        trace.append("inner")

    def outer():
        thread = threading.Thread(target=inner)
        thread.start()
        trace.append("outer")
        thread.join()

    together(outer)
    return tuple(trace)


def a_subclass_with_a_run_of_its_own(trace):
    class Worker(threading.Thread):
        def run(self):
            trace.append(threading.current_thread() is self)

    worker = Worker()
    worker.start()
    worker.join()
    return worker.is_alive(), tuple(trace)


def asked_whether_it_is_alive_while_it_is_started(trace):
    gate = threading.Event()
    worker = threading.Thread(target=lambda: gate.wait(LATE))
    seen = beside(worker.start, worker.is_alive)
    gate.set()
    worker.join()
    return seen, worker.is_alive()


def a_started_thread_has_an_identity(trace):
    gate = threading.Event()
    thread = threading.Thread(target=lambda: gate.wait(LATE))
    before = thread.ident
    thread.start()
    seen = before is None, thread.ident is None
    gate.set()
    thread.join()
    return seen


def a_started_thread_is_counted(trace):
    gate = threading.Event()
    thread = threading.Thread(target=lambda: gate.wait(LATE))
    thread.start()
    seen = thread in threading.enumerate()
    gate.set()
    thread.join()
    return seen, thread in threading.enumerate()


def a_thread_started_below_threading_has_the_identity_that_its_start_returned(trace):
    import _thread

    done = threading.Event()
    seen = []

    def body():
        seen.append(threading.get_ident())
        done.set()

    ident = _thread.start_new_thread(body, ())
    done.wait(LATE * 10)
    return not seen or seen == [ident]


def a_hook_sees_how_a_thread_dies(trace):
    def body():
        raise KeyError("k")

    before, threading.excepthook = threading.excepthook, lambda seen: trace.append(seen.exc_type.__name__)
    try:
        together(body)
    finally:
        threading.excepthook = before
    return tuple(trace)
