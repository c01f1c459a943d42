"""Loops over containers that change, and iterators that two threads step."""

# ruff: noqa: ARG001, C416 - a program is given its trace; the forms are the point

import itertools

from litmus_threads import apart, beside, together

STATEMENTS = True


def a_list_walked_by_a_comprehension(trace):
    items = [1]

    def body():
        items.append(2)
        items.append(3)

    return apart(body, lambda: [item for item in items])


def a_list_walked_step_by_step(trace):
    items = [1, 1]

    def body():
        items[0] = 2
        items[1] = 2

    def main():
        found = 0
        for item in items:
            found = found * 10 + item
        return found

    return apart(body, main)


def a_list_walked_in_pairs(trace):
    items = [1, 1]

    def body():
        items[1] = 2

    return apart(body, lambda: [(number, item) for number, item in enumerate(items)])


def a_list_walked_by_a_generator(trace):
    items = [1, 1]

    def walk():
        yield from items

    def body():
        items[1] = 2

    return apart(body, lambda: list(walk()))


def two_take_from_one_iterator(trace):
    walk = iter([1, 2, 3])
    together(lambda: trace.append(next(walk)), lambda: trace.append(next(walk)))
    return tuple(trace)


def two_loops_over_one_iterator(trace):
    walk = iter((1, 2))

    def body(name):
        for item in walk:
            trace.append((name, item))

    together(lambda: body("a"), lambda: body("b"))
    return tuple(trace)


def two_loops_over_one_count(trace):
    numbers = enumerate("ab")

    def body(name):
        for number, _ in numbers:
            trace.append((name, number))

    together(lambda: body("a"), lambda: body("b"))
    return tuple(trace)


def numbers_dealt_by_a_slice(trace):
    numbers = itertools.count()
    return apart(lambda: list(itertools.islice(numbers, 1)), lambda: list(itertools.islice(numbers, 1)))


def an_iterator_that_walks_over_a_list(trace):
    items = [1, 1]
    walk = iter(items)

    def body():
        items[1] = 2

    def main():
        next(walk)
        return next(walk)

    return beside(body, main)
