"""Statements, names, classes, exceptions."""

# fmt: off
# ruff: noqa: B009, B010, B018, C901, E501, F821, F841, F842, I001, N801, PERF402, PGH004, PLR0911, PLW0603, PTH119, RUF100, TRY301 - strange forms are the point

def globals_stored():
    global total
    seen = []
    for total in range(3):
        seen.append(total)
    with contextlib.nullcontext(7) as total:
        seen.append(total)
    try:
        raise KeyError("k")
    except KeyError as total:
        seen.append(type(total).__name__)
    seen.append("total" in globals())
    import os.path as total

    seen.append(total.__name__ in ("posixpath", "ntpath"))
    (total, seen[0]), seen[1] = [(1, 2), 3]
    seen.append([total, (total := 5), total])
    total += 2
    seen.append(total)

    def total():
        return "function"

    seen.append(total())

    class total:
        value = 3

    seen.append(total.value)
    del total
    seen.append("total" in globals())
    total = 0
    return seen


def a_return_in_an_except_clause():
    global total
    try:
        raise ValueError("v")
    except ValueError as total:
        return str(total), "total" in globals()


def globals_after_that():
    global total
    total = 0
    return total


def a_variable_used_too_early_error():
    if late:
        pass
    late = [1]
    return lambda: late


def a_free_variable_used_too_early_error():
    def read():
        return late

    read()
    late = 1


def deleted_local_error():
    value = [1]
    del value
    value += [2]


def an_iterable_that_is_none_error():
    for _ in None:
        pass


def too_many_values_error():
    a, b = [1, 2, 3]


def an_unhashable_key_error():
    return {[]: 1}


def a_missing_attribute_error():
    return Box().missing_one


def a_wrong_call_error():
    return a_recursive_function(1, two=2)


def matches():
    def kind(value):
        match value:
            case []:
                return "empty"
            case [1, *rest] if len(rest) > 1:
                return "one", rest
            case [Box(value=v), _]:
                return "box", v
            case {"a": a, **others} if others:
                return a, others
            case Point(x=0, y=[y]) | Point(1, [y]):
                return "point", y
            case str() | bytes() as text:
                return text
            case Kind.A | 3:
                return "kind"
            case (x, y):
                return x, y
            case _:
                return "other"

    return [kind(v) for v in ([], [1], [1, 2, 3], [Box(4), 0], {"a": 1}, {"a": 1, "b": 2}, Point(0, [5]),
                              Point(1, [6]), Point(2), "s", b"b", Kind.A, 3, (8, 9), None)]


def global_patterns():
    global total
    match [1, [2, 3]]:
        case [first, [*total]] if total[0] == 2:
            answer = first, total
        case _:
            answer = None
    match {"a": 1}:
        case {**total}:
            answer += (total,)
    match 5:
        case total:
            answer += (total,)
    return answer


def classes():
    derived = Derived()
    base = Base()
    base.size = 1
    return (base.names, Base.names, Base.doubled, Base.count, Base.first, Base.others, Base.last, Base.number, Base.options,
            Derived.options, derived.stored[0].__name__, derived.stored[1:], derived.made_up, derived.size,
            Base.plain([1]), list(vars(Base))[:9])


def a_property_without_a_setter_error():
    class Fixed:
        @property
        def value(self):
            return 1

    Fixed().value += 1


def enums():
    return [k.name + str(k.value) for k in Kind], Kind.A.next(), Kind["B"], Kind(3), list(Kind.__members__)


def records():
    point, pair = Point(1), Pair(1, [2])
    left, (right,) = pair
    return point, dataclasses.replace(point, x=2), pair._replace(left=3), left, right, Point.__annotations__


def private_names():
    class _Hidden:
        __secret = 4

        def read(self):
            self.__secret += 1
            return self.__secret, self._Hidden__secret, hasattr(self, "__secret")

    return _Hidden().read(), Box().hidden()


def exceptions():
    seen = []
    try:
        try:
            raise ValueError("a") from KeyError("b")
        except (ValueError, TypeError) as error:
            seen.append((str(error), type(error.__cause__).__name__))
            raise RuntimeError from error
        finally:
            seen.append("finally")
    except RuntimeError as error:
        seen.append(type(error.__cause__).__name__)
    else:
        seen.append("never")
    try:
        error
    except NameError:
        seen.append("gone")
    return seen


def exception_groups():
    seen = []
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as group:
        seen.append(group.exceptions)
    except* TypeError as group:
        seen.append(len(group.exceptions))
    return seen


def attributes_by_name():
    box = Box()
    setattr(box, "value", [1])
    box.__dict__["other"] = 2
    vars(box)["third"] = 3
    object.__setattr__(box, "fourth", 4)
    box.__dict__.update(fifth=5)
    found = getattr(box, "value"), box.other, getattr(box, "none", "default"), hasattr(box, "third")
    delattr(box, "value")
    return found, sorted(vars(box)), box.fourth, box.fifth


def globals_by_name():
    globals()["total"] = 41
    return total + 1, globals().get("log") is log


def annotated():
    value: list[int] = [1]
    box = Box()
    box.value: list[int] = [2]
    box.items[0]: int = 5
    only: int
    return value, box.value, box.items


def a_test_that_is_asserted_error():
    items = []
    assert items, f"empty: {items}"


def conditional_imports():
    from collections import abc as total_abc, deque as d

    import os.path

    return total_abc.__name__, d([1]), os.path.basename("a/b")


def a_module_s_private_name():
    class Reader:
        def read(self):
            return globals()["__private"]

    return Reader().read(), __private


def lines_of_a_traceback():
    def fail(items):
        return (
            items
            [5]
        )

    try:
        fail(
            [1],
        )
    except IndexError as error:
        trace, lines = error.__traceback__, []
        while trace:
            if trace.tb_frame.f_code.co_filename.endswith("corpus.py"):
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        return lines
