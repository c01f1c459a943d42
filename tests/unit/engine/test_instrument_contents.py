"""What counts as one thing: containers, iterators, and the memory behind views."""

from __future__ import annotations

import types

from harness.engine.instrument import contents
from harness.engine.instrument.contents import CONTAINER, ITERATOR, NOTHING, kind, touches


def test_kinds():
    import array
    import collections
    import ctypes

    import numpy as np

    class Table(dict):
        pass

    class Row(tuple):
        __slots__ = ()

    containers = [
        [], {}, set(), bytearray(), memoryview(b""), array.array("i"), np.zeros(1), (ctypes.c_int * 1)(), Table(),
        collections.deque(), collections.UserList(), {}.keys(), types.MappingProxyType({}),
    ]  # fmt: skip
    assert {kind(type(each)) for each in containers} == {CONTAINER}
    iterators = [iter([]), (n for n in ""), enumerate(""), map(str, ""), iter({}.items())]
    assert {kind(type(each)) for each in iterators} == {ITERATOR}
    fixed = ["", b"", 1, 2.0, None, range(1), int, types, ValueError(), np.float64(1), len, object()]
    assert {kind(type(each)) for each in fixed} == {NOTHING}
    assert not touches(Row((1, "a")), deep=True)


def test_views_count_as_what_they_are_views_of():
    import numpy as np

    memory, values, table = bytearray(8), np.zeros((2, 2)), {}
    for view, owner in (
        (memoryview(memory)[1:], memory), (np.frombuffer(memory), memory), (values[0][1:], values),
        (values.T[0], values), (table.items(), table), (types.MappingProxyType(table), table),
        ((memory_ := memoryview(memory)).cast("B"), memory),
    ):  # fmt: skip
        assert touches(view)[0][0] is owner
    memory_.release()
    assert touches(memory_)[0][0] is memory_


def test_deep_looks_go_through_what_is_nested_and_end():
    inner, table = [], {}
    outer = [inner, (table, "text"), 1]
    outer.append(outer)
    assert [id(what) for what, _, _ in touches(outer, deep=True)] == [id(outer), id(inner), id(table)]
    assert len(touches([[] for _ in range(2_000)], deep=True)) <= contents._MOST + 1
    walk = zip(inner, iter(table.items()), strict=False)
    touched = [(id(what), write) for what, _, write in touches(walk)]
    assert (id(walk), True) in touched
    assert {(id(inner), False), (id(table), False)} <= set(touched)


def test_memory_stays_flat_over_many_classes():
    for _ in range(contents._MOST_KINDS + 50):
        kind(type("Made", (list,), {}))
    assert len(contents.KINDS) <= contents._MOST_KINDS + 1
