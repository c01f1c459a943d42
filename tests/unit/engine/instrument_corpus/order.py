"""In which order things are evaluated: each function returns what it noted."""

# fmt: off
# ruff: noqa: F821, PGH004, PLW0120, RUF100 - strange forms are the point

@_logged
def order_of_a_chained_assignment():
    box = Box()
    _note("base", box).value = _note("item base", box)[_note("key")] = _note("value")
    return box.value


@_logged
def order_of_an_augmented_item():
    table = {"k": 1}
    _note("container", table)[_note("k")] += _note("value", 5)
    return table


@_logged
def order_of_an_augmented_attribute():
    box = Box(1)
    _note("thing", box).value += _note("value", 5)
    return box.value


@_logged
def order_of_unpacking():
    box = Box()
    (box.value, _note("c", box)[_note("k")]), *box.items = _note([[1, 2], 3, 4])
    return box.value, box.items


@_logged
def order_of_a_call():
    def f(*a, **k):
        return a, k

    return _note("f", f)(_note(1), *_note([2]), _note(3), x=_note(4), **_note({"y": 5}))


@_logged
def order_of_comparisons():
    return _note(1) < _note(3) < _note(2) < _note(9), _note([1]) == _note([1]) != _note(2) in _note([2])


@_logged
def order_of_operators():
    return _note([1]) + _note([2]) * _note(2), _note(6) // _note(4) ** _note(0.5), -_note(2), ~_note(1)


@_logged
def order_of_slices():
    items = list(range(9))
    _note("items", items)[_note(1) : _note(3)] = _note([7, 8])
    del _note("items", items)[_note(0) : _note(5) : _note(2)]
    return items, _note("items", items)[_note(1) :], items[-1:], (1, 2, 3)[::2]


@_logged
def order_of_a_dict():
    return {_note("k1"): _note("v1"), **_note({"k2": 2}), _note("k3"): _note("v3")}


@_logged
def short_circuits():
    return _note(0) and _note(1), _note([]) or _note([2]), _note(1) if _note(()) else _note(2), not _note([])


@_logged
def an_item_that_is_not_there_error():
    {}[_note("missing")] += _note("never")


@_logged
def own_operators():
    box = kept = Box()
    box += 1
    box.value = inner = Box()
    box.value += 2
    return box is kept, box.value is inner, box < 3, bool(box), box[1:2], box["a", 1:]


@_logged
def deletions():
    box, table = Box(), {"a": 1, "b": 2}
    del box.value, table[_note("a")], box[_note(1)]
    return hasattr(box, "value"), table


@_logged
def with_statements():
    @contextlib.contextmanager
    def open_(name):
        _note(("enter", name))
        try:
            yield [name, name]
        finally:
            _note(("exit", name))

    box = Box()
    with open_("a") as box.value, open_(box.value[0] + "b") as (first, box.second):
        _note(first)
    return box.value, box.second


@_logged
def a_for_loop_with_an_else():
    box = Box()
    for box.value, (a, *b) in [(1, (2, 3)), (4, "xyz")]:
        _note((box.value, a, b))
        if a == "x":
            break
    else:
        _note("never")
    for box[_note("k")] in "ab":
        pass
    else:
        _note("else")
    return box.value
