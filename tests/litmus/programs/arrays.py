"""Arrays, and memory that is seen under two names."""

# ruff: noqa: ARG001 - a program is given its trace; the forms are the point

import ctypes

import numpy as np
from litmus_threads import apart

STATEMENTS = True


def a_bytearray_seen_through_a_view(trace):
    memory = bytearray(1)
    view = memoryview(memory)

    def body():
        memory[0] = 1

    return apart(body, lambda: (view[0], view[0]))


def an_array_of_numbers(trace):
    values = np.zeros(2)

    def body():
        values[0] = 1

    return apart(body, lambda: (float(values[0]), float(values[0])))


def an_array_seen_through_a_slice(trace):
    values = np.zeros(2)
    part = values[:1]

    def body():
        values[:] = 1

    return apart(body, lambda: (float(part.sum()), float(part.sum())))


def an_array_that_a_function_writes_to(trace):
    values = np.zeros(2)
    return apart(lambda: np.add(values, 1, out=values) is values, lambda: (values.tolist(), values.tolist()))


def an_array_changed_in_place(trace):
    values = np.zeros(1)

    def add(mine):
        mine += 1

    return apart(lambda: add(values), lambda: (str(values), str(values)))


def an_array_copied_into_another(trace):
    source, copy = np.zeros(1), np.zeros(1)

    def body():
        source[0] = 1

    def main():
        copy[...] = source
        return float(copy[0]), float(copy[0])

    return apart(body, main)


def an_array_of_c(trace):
    values = (ctypes.c_int * 2)()

    def body():
        values[0] = 1

    return apart(body, lambda: (values[0], values[0]))
