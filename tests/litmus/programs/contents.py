"""Looks into containers, and changes of them, in every form that the language has."""

# ruff: noqa: ARG001, FURB192, PIE804, PLW0108, RUF005, SIM221, UP031, UP032 - a program is given its trace; the forms are the point

import functools
import io
import operator
from bisect import insort
from collections import Counter, UserDict, deque
from heapq import heappush

from litmus_threads import apart, beside, together

STATEMENTS = True


def two_lists_ordered(trace):
    items, others = [1], [1]
    return apart(lambda: items.append(2), lambda: (others < items, items > others))


def a_list_in_a_tuple_compared(trace):
    items = []
    return apart(lambda: items.append(1), lambda: ((items,) == ([],), (items,) == ([],)))


def a_list_looked_for_in_another(trace):
    items = []
    outer = [items]
    return apart(lambda: items.append(1), lambda: ([] in outer, [] in outer))


def a_list_unpacked_with_a_star(trace):
    items = [1]

    def main():
        _, *rest = items
        first, *_ = items
        return len(rest), first

    def body():
        items[0] = 3
        items.append(2)

    return apart(body, main)


def a_list_in_a_list_unpacked(trace):
    inner = [1, 2]
    outer = [[0, inner]]

    def body():
        inner[0] = 3

    return apart(body, lambda: [first for _, (first, _) in outer])


def a_slice_replaced(trace):
    items = [1, 2]

    def body():
        items[:] = [3]

    return apart(body, lambda: (items[-1:], items[-1:]))


def an_item_deleted(trace):
    items = [1, 2]

    def body():
        del items[0]

    return apart(body, lambda: (items[0], items[0]))


def an_item_counted_under_a_key_that_is_computed(trace):
    table = {"ab": 0}

    def add():
        table["a" + "b"] += 1

    together(add, add)
    return table["ab"]


def a_list_of_an_attribute_extended_in_place(trace):
    class Box:
        items = ()

    box = Box()
    box.items = kept = []

    def body():
        box.items += [1]

    return apart(body, lambda: (len(kept), len(kept)))


def a_list_written_by_a_function(trace):
    items = []
    return apart(lambda: items.append(1), lambda: (str(items), repr(items)))


def a_list_written_by_a_percent_sign(trace):
    items = []
    return apart(lambda: items.append(1), lambda: ("%s" % items, "%s" % (items,)))


def a_list_written_by_a_method(trace):
    items = []
    return apart(lambda: items.append(1), lambda: ("{}".format(items), "-".join(map(str, items))))


def a_list_printed(trace):
    items, out = [], io.StringIO()

    def main():
        print(items, file=out)
        print(items, file=out)
        return out.getvalue()

    return beside(lambda: items.append(1), main)


def lists_joined(trace):
    items = []
    return apart(lambda: items.append(1), lambda: (items + [0], [*items, 0]))


def a_list_given_as_arguments(trace):
    items = []
    return apart(lambda: items.append(1), lambda: (max(0, 0, *items), max(0, 0, *items)))


def a_dict_given_as_arguments(trace):
    table = {}

    def count(**named):
        return len(named)

    def body():
        table["key"] = 1

    return apart(body, lambda: (count(**table), count(**{**table})))


def a_method_kept_and_called(trace):
    items = []
    append = items.append
    return apart(lambda: append(1), lambda: (len(items), len(items)))


def a_method_of_the_class_called(trace):
    items = []
    return apart(lambda: list.append(items, 1), lambda: (list.__len__(items), len(items)))


def a_method_called_by_its_name(trace):
    items = []
    append = operator.methodcaller("append", 1)
    return apart(lambda: append(items), lambda: (len(items), len(items)))


def a_partial_function(trace):
    items = []
    append = functools.partial(list.append, items)
    return apart(lambda: append(1), lambda: (len(items), len(items)))


def a_heap_pushed_by_name(trace):
    items = []
    return apart(lambda: heappush(items, 1), lambda: (tuple(items), tuple(items)))


def a_list_kept_in_order(trace):
    items = [2]
    return apart(lambda: insort(items, 1), lambda: (items[0], items[0]))


def a_list_sorted(trace):
    items = [2, 1]
    return apart(lambda: items.sort(), lambda: (sorted(items)[0], items[0], items[0]))


def a_view_of_the_keys(trace):
    table = {}
    keys = table.keys()

    def body():
        table["key"] = 1

    return apart(body, lambda: ("key" in keys, len(keys)))


def a_count_of_what_was_seen(trace):
    seen = Counter()

    def add():
        seen["key"] += 1

    together(add, add)
    return seen["key"]


def a_counter_updated_by_the_library(trace):
    seen = Counter()
    return apart(lambda: seen.update("a"), lambda: (seen["a"], seen.total()))


def a_dict_of_the_library_s_own_python(trace):
    table = UserDict()

    def body():
        table["key"] = 1

    return apart(body, lambda: ("key" in table, "key" in table))


def a_subclass_with_a_method_of_its_own(trace):
    class Recent(deque):
        def note(self, item):
            if item not in self:
                self.append(item)

    recent = Recent()
    together(lambda: recent.note(1), lambda: recent.note(1))
    return len(recent)


def a_set_merged_in_place(trace):
    seen = set()

    def merge(mine):
        mine |= {1}

    return apart(lambda: merge(seen), lambda: (1 in seen, bool(seen)))


def a_list_matched(trace):
    items = []

    def look():
        match items:
            case []:
                return "empty"
            case [_]:
                return "one"
            case _:
                return "more"

    return apart(lambda: items.append(1), lambda: (look(), look()))


def a_list_matched_again_after_a_guard(trace):
    items = [1]

    def doubtful():
        trace.append("asked")
        return False

    def look():
        match items:
            case [_] if doubtful():
                return "never"
            case [_, _]:
                return "two"
            case _:
                return "other"

    return beside(lambda: items.append(2), look)


def a_list_asked_whether_it_is_empty(trace):
    items = []

    def look():
        assert not items or items
        return "full" if items else "empty"

    return apart(lambda: items.append(1), lambda: (look(), bool(items and items)))
