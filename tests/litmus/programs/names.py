"""Variables and attributes under more than one name, and stored by every statement that can store."""

# ruff: noqa: ARG001, B007, B009, B023, F841, PLW0603, TRY301 - a program is given its trace; the forms are the point

import contextlib
import functools
import threading

from litmus_threads import apart, together

STATEMENTS = True
NEEDS = {"a_property_made_once": (3, 12)}  # before, a lock of its own made it wait
state = None


class _Box:
    shared = 0

    def __init__(self):
        self.value = 0
        self.first = 0


class _Derived(_Box):
    pass


def an_attribute_read_by_its_name(trace):
    box = _Box()

    def body():
        box.value = 1

    return apart(body, lambda: (getattr(box, "value"), getattr(box, "value", None)))


def an_attribute_deleted_by_its_name(trace):
    box = _Box()
    return apart(lambda: delattr(box, "value") if hasattr(box, "value") else None, lambda: hasattr(box, "value"))


def a_class_attribute_read_through_a_derived_class(trace):
    _Box.shared = 0
    box = _Derived()

    def body():
        _Box.shared = 1

    return apart(body, lambda: (box.shared, _Derived.shared))


def a_class_attribute_hidden_by_an_instance_s(trace):
    _Box.shared = 0
    box = _Box()

    def body():
        box.shared = 1

    return apart(body, lambda: (box.shared, box.shared))


def a_class_attribute_counted_by_two(trace):
    _Box.shared = 0

    def add():
        _Box.shared += 1

    together(add, add)
    return _Box.shared


def a_property_made_once(trace):
    class Made:
        @functools.cached_property
        def thing(self):
            trace.append("made")
            return len(trace)

    made = Made()
    together(lambda: made.thing, lambda: made.thing)
    return made.thing, len(trace)


def an_object_shown_before_it_is_made(trace):
    class Worker:
        ready = False

        def __init__(self):
            self.thread = threading.Thread(target=self.run)
            self.thread.start()
            self.late = "set"

        def run(self):
            trace.append(hasattr(self, "late"))

    Worker().thread.join()
    return tuple(trace)


def a_name_stored_amid_an_expression(trace):
    global state
    state = 0

    def body():
        global state
        if state := 1:
            pass

    return apart(body, lambda: (state, state))


def a_global_that_a_loop_stores(trace):
    global state
    state = 0

    def body():
        global state
        for state in [1, 2]:
            pass

    return apart(body, lambda: (state, state))


def a_global_that_a_with_statement_stores(trace):
    global state
    state = 0

    def body():
        global state
        with contextlib.nullcontext(1) as state:
            pass

    return apart(body, lambda: (state, state))


def an_attribute_that_a_with_statement_stores(trace):
    box = _Box()

    def body():
        with contextlib.nullcontext(1) as box.value:
            pass

    return apart(body, lambda: (box.value, box.value))


def a_global_that_an_except_clause_stores(trace):
    global state
    state = 0

    def body():
        global state
        try:
            raise KeyError
        except KeyError as state:
            trace.append("caught")

    def look():
        try:
            return type(state).__name__
        except NameError:
            return "gone"

    return apart(body, lambda: (look(), look()))


def a_global_that_an_import_stores(trace):
    global state
    state = None

    def body():
        global state
        import string as state

    return apart(body, lambda: (state is None, state is None))


def a_global_that_a_definition_stores(trace):
    global state
    state = None

    def body():
        global state

        def state():
            """Is there."""

    return apart(body, lambda: (state is None, state is None))


def a_global_that_a_pattern_stores(trace):
    global state
    state = 0

    def body():
        global state
        match [1]:
            case [state]:
                pass

    return apart(body, lambda: (state, state))


def a_global_stored_among_others(trace):
    global state
    state = 0
    box = _Box()

    def body():
        global state
        state, box.value = 1, 1

    return apart(body, lambda: (state, box.value, state))


def an_attribute_and_a_global_stored_in_turn(trace):
    global state
    state = 0
    box = _Box()

    def body():
        global state
        box.value = state = 1

    return apart(body, lambda: (state, box.value))


def a_global_deleted(trace):
    global state
    state = 0

    def body():
        global state
        del state

    def look():
        try:
            return state
        except NameError:
            return "gone"

    return apart(body, lambda: (look(), look()))


def a_loop_s_variable_that_a_thread_reads(trace):
    threads = []
    for number in range(2):
        threads.append(threading.Thread(target=lambda: trace.append(number)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return tuple(trace)


def a_variable_stored_after_it_was_captured(trace):
    def read():
        trace.append(late)

    late = 1
    thread = threading.Thread(target=read)
    thread.start()
    late += 1
    thread.join()
    return tuple(trace)


def a_variable_deleted_after_it_was_captured(trace):
    def read():
        try:
            trace.append(late)
        except NameError:
            trace.append("gone")

    late = 1
    thread = threading.Thread(target=read)
    thread.start()
    del late
    thread.join()
    return tuple(trace)


def an_attribute_that_a_pattern_reads(trace):
    box = _Box()

    def look():
        match box:
            case _Box(value=0):
                return "before"
            case _:
                return "after"

    def body():
        box.value = 1

    return apart(body, lambda: (look(), look()))
