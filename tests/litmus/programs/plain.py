"""Plain attributes, dicts, lists, globals and nonlocals: nothing but statements."""

# ruff: noqa: ARG001, PLW0603 - a program is given its trace, whether it uses it or not; globals are what is tested

import heapq
import itertools
from array import array
from collections import OrderedDict, defaultdict, deque

from litmus_threads import apart, beside, together

STATEMENTS = True
total = 0
cache = None


class _Counter:
    limit = 0

    def __init__(self):
        self.value = 0
        self.other = 0
        self.done = False

    def add(self):
        self.value += 1

    def once(self):
        if not self.done:
            self.done = True
            self.value += 1


def an_attribute_counted_by_two(trace):
    counter = _Counter()
    together(counter.add, counter.add)
    return counter.value


def a_flag_checked_then_set(trace):
    counter = _Counter()
    together(counter.once, counter.once)
    return counter.value


def two_attributes_read_apart(trace):
    counter = _Counter()

    def write():
        counter.value = 1
        counter.other = 1

    return beside(write, lambda: (counter.other, counter.value))


def two_flags_of_two_threads(trace):
    one, two = _Counter(), _Counter()

    def body():
        one.done = True
        trace.append(two.done)

    def main():
        two.done = True
        return one.done

    return beside(body, main), tuple(trace)


def an_attribute_of_the_class(trace):
    _Counter.limit = 0
    counter = _Counter()

    def body():
        _Counter.limit = 1

    return apart(body, lambda: (counter.limit, counter.limit))


def a_global_counted_by_two(trace):
    global total
    total = 0

    def add():
        global total
        total += 1

    together(add, add)
    return total


def a_global_made_when_needed(trace):
    global cache
    cache = None

    def get(name):
        global cache
        if cache is None:
            cache = name
        return cache

    return beside(lambda: trace.append(get("b")), lambda: get("a")), tuple(trace)


def a_nonlocal_counted_by_two(trace):
    count = 0

    def add():
        nonlocal count
        count += 1

    together(add, add)
    return count


def a_variable_that_only_the_outer_function_stores(trace):
    import threading

    flag = "before"

    def read():
        trace.append(flag)

    thread = threading.Thread(target=read)
    thread.start()
    flag = "after"
    thread.join()
    return tuple(trace)


def a_key_checked_then_set(trace):
    table = {}

    def claim(name):
        if "key" not in table:
            table["key"] = name
            trace.append(name)

    together(lambda: claim("a"), lambda: claim("b"))
    return table["key"], tuple(trace)


def a_key_set_by_default(trace):
    table = {}
    return beside(lambda: trace.append(table.setdefault("key", "b")), lambda: table.setdefault("key", "a")), tuple(
        trace
    )


def a_key_removed_while_it_is_read(trace):
    table = {"key": 1}

    def read():
        if "key" in table:
            try:
                return table["key"]
            except KeyError:
                return "gone"
        return "absent"

    return apart(lambda: table.pop("key"), read)


def an_item_counted_by_two(trace):
    table = {"count": 0}

    def add():
        table["count"] += 1

    together(add, add)
    return table["count"]


def a_default_made_by_a_read(trace):
    table = defaultdict(list)
    return apart(lambda: len(table["key"]), lambda: len(table))


def a_default_made_by_two(trace):
    table = defaultdict(list)
    together(lambda: table["key"].append("a"), lambda: table["key"].append("b"))
    return tuple(table["key"])


def a_list_checked_then_popped(trace):
    items = [1]

    def take(name):
        if items:
            try:
                items.pop()
            except IndexError:
                trace.append(name)

    together(lambda: take("a"), lambda: take("b"))
    return tuple(trace)


def two_append(trace):
    items = []
    together(lambda: items.append("a"), lambda: items.append("b"))
    return tuple(items)


def a_list_copied_by_a_slice(trace):
    items = []

    def main():
        first = items[:]
        second = items[:]
        return len(first), len(second)

    return apart(lambda: items.append(1), main)


def a_list_compared(trace):
    items = []

    def main():
        first = items == [1]
        second = items == [1]
        return first, second

    return apart(lambda: items.append(1), main)


def a_list_unpacked(trace):
    items = [1, 2]

    def body():
        items[0] = 3
        items[1] = 4

    def main():
        first, _ = items
        _, second = items
        return first, second

    return apart(body, main)


def a_list_extended_in_place(trace):
    items = []

    def extend(mine, name):
        mine += [name]

    together(lambda: extend(items, "a"), lambda: extend(items, "b"))
    return tuple(items)


def a_list_written_to_text(trace):
    items = []
    return apart(lambda: items.append(1), lambda: f"{items}{items}")


def a_list_sorted_into_a_heap(trace):
    items = []
    return apart(lambda: heapq.heappush(items, 1), lambda: (len(items), len(items)))


def a_list_walked_while_it_grows(trace):
    items = [1]
    return apart(lambda: items.append(2), lambda: sum(number for number in items))


def a_dict_that_grows_while_it_is_walked(trace):
    table = {1: 1}

    def walk():
        try:
            return [trace.append(key) for key in table] == [None]
        except RuntimeError:
            return "grown"

    def grow():
        table[2] = 2

    return apart(grow, walk)


def a_set_that_two_add_to(trace):
    seen = set()

    def add(name):
        if name not in seen:
            seen.add(name)
            trace.append(name)

    together(lambda: add("x"), lambda: add("x"))
    return tuple(trace)


def a_deque_checked_then_popped(trace):
    items = deque([1])

    def take():
        return items.popleft() if items else "empty"

    def body():
        try:
            trace.append(take())
        except IndexError:
            trace.append("error")

    together(body, body)
    return tuple(sorted(map(str, trace)))


def an_ordered_dict_that_is_reordered(trace):
    table = OrderedDict(a=1, b=2)

    def first():
        try:
            return next(iter(table))
        except RuntimeError:
            return "moved"

    return apart(lambda: table.move_to_end("a"), lambda: (first(), first()))


def numbers_from_one_counter(trace):
    numbers = itertools.count()
    return apart(lambda: next(numbers), lambda: next(numbers))


def an_array_written_while_it_is_read(trace):
    values = array("i", [0, 0])

    def body():
        values[0] = 1
        values[1] = 1

    return apart(body, lambda: (values[1], values[0]))


def a_subclass_of_a_container(trace):
    class Table(dict):
        pass

    table = Table()
    return apart(lambda: table.update(key=1), lambda: ("key" in table, "key" in table))


def an_attribute_by_its_name(trace):
    counter = _Counter()
    return apart(lambda: setattr(counter, "value", 1), lambda: (counter.value, counter.value))


def an_attribute_set_to_a_loop_s_variable(trace):
    counter = _Counter()

    def body():
        for counter.value in (1, 2):
            pass

    return apart(body, lambda: (counter.value, counter.value))
