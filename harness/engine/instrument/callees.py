"""What a call touches that runs code which reports nothing: builtin functions and methods, and the library's Python.

Instrumented functions report for themselves. Of any other a known reader reads the contents of what it is given; for
one that is not known, a write is reported: that costs executions, while a write that is missed hides outcomes.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable
from types import (
    BuiltinMethodType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from harness.engine.instrument.contents import (
    CONTAINER,
    KINDS,
    MARK,
    NOTHING,
    OWN,
    Touch,
    class_of,
    is_instrumented,
    kind,
    module_of,
    some_touch,
    touches,
)
from harness.engine.instrument.owners import read_attribute, write_attribute

__all__ = ["effects", "may_touch"]

_READERS = frozenset({
    "__contains__", "__eq__", "__ge__", "__getitem__", "__gt__", "__iter__", "__le__", "__len__", "__lt__", "__ne__",
    "__repr__", "__reversed__", "__sizeof__", "__str__", "all", "any", "argmax", "argmin", "argsort", "astype", "copy",
    "count", "cumsum", "decode", "difference", "dot", "endswith", "find", "flatten", "get", "hex", "index",
    "intersection", "isdisjoint", "issubset", "issuperset", "item", "items", "join", "keys", "max", "mean", "min",
    "most_common", "nonzero", "ravel", "repeat", "reshape", "round", "rfind", "squeeze", "startswith", "std", "sum",
    "symmetric_difference", "take", "tobytes", "tolist", "total", "transpose", "union", "values", "var", "view",
})  # fmt: skip
"""Methods that change nothing in a container, whatever its class."""
_COMPARE = frozenset({"__contains__", "__eq__", "__ne__", "__repr__", "__str__", "count", "index", "remove", "sort"})
"""Methods that look into what the container holds, too."""
_READING_MODULES = frozenset({
    "_bisect", "_heapq", "_json", "_operator", "_pickle", "_statistics", "_struct", "array", "base64", "binascii",
    "bisect", "builtins", "copy", "hashlib", "heapq", "itertools", "json", "json.encoder", "logging", "marshal", "math",
    "pickle", "pprint", "reprlib", "statistics", "textwrap", "time", "zlib",
})  # fmt: skip
"""Modules whose functions change nothing that they are given, but for iterators and for `_WRITERS`."""
_WRITERS = frozenset({
    "__delitem__", "__setitem__", "copyto", "delitem", "fill_diagonal", "insort", "insort_left", "insort_right",
    "pack_into", "place", "put", "putmask", "readinto", "setitem", "shuffle",
})  # fmt: skip
_FIRST_MODULES = frozenset({"_bisect", "_heapq", "_operator", "bisect", "heapq"})
_WRITERS_OF_FIRST = frozenset({
    "delitem", "heapify", "heappop", "heappush", "heappushpop", "heapreplace", "iadd", "iand", "iconcat", "ifloordiv",
    "ilshift", "imatmul", "imod", "imul", "insort", "insort_left", "insort_right", "ior", "ipow", "irshift", "isub",
    "itruediv", "ixor", "setitem",
})  # fmt: skip
"""Functions of `_FIRST_MODULES` that change their first argument; the others change none."""
_SHALLOW = frozenset({"all", "any", "callable", "id", "iter", "len", "next", "sum"})
"""Builtins that do not look into what the container holds."""
_BOUND = frozenset({BuiltinMethodType, MethodType, MethodWrapperType})
_UNBOUND = frozenset({ClassMethodDescriptorType, MethodDescriptorType, WrapperDescriptorType})
_CALLED = _BOUND | _UNBOUND | {FunctionType}
_Arguments = tuple[Any, ...]


def may_touch(function: Any, arguments: _Arguments, keywords: dict[str, Any]) -> bool:
    """Whether a call can touch anything: a quick answer, which is no for most calls."""
    of = class_of(function)
    if of is MethodType or of is FunctionType:
        python = function.__func__ if of is MethodType else function
        if class_of(python) is FunctionType and MARK in python.__globals__:
            return False
        if of is MethodType and KINDS.get(class_of(function.__self__), CONTAINER):
            return True
    elif of is BuiltinMethodType:
        if KINDS.get(class_of(function.__self__), CONTAINER) or function in _BY_NAME:
            return True
    elif of is not type:
        return True
    return some_touch((*arguments, *keywords.values()) if keywords else arguments)


def effects(function: Any, arguments: _Arguments, keywords: dict[str, Any]) -> list[Touch]:
    """What a call touches that nobody else reports."""
    if class_of(function) is BuiltinMethodType and not keywords:
        found = _of_common(function, arguments)
        if found is not None:
            return found
    while class_of(function) is functools.partial:
        arguments = (*function.args, *arguments)
        keywords = {**function.keywords, **keywords}
        function = function.func
    bound = _bound_to(function)
    given = (*arguments, *keywords.values())
    if (bound is None or kind(class_of(bound)) == NOTHING) and all(kind(class_of(each)) == NOTHING for each in given):
        return []
    if class_of(function) is not BuiltinMethodType and _reports(function):
        return []
    if bound is not None and not issubclass(class_of(bound), ModuleType | type):
        return _of_method(bound, function, arguments, keywords)
    return _of_function(function, arguments, keywords)


def _of_common(function: Any, arguments: _Arguments) -> list[Touch] | None:
    """The answer for the builtin functions and the methods that programs call all the time; None for others."""
    if function in _BUILTINS:
        if function in _BY_NAME:
            return _BY_NAME[function](arguments)
        return _all(arguments, write=False, deep=_BUILTINS[function][1] not in _SHALLOW)
    if class_of(function.__self__) not in OWN or some_touch(arguments):
        return None
    name = function.__name__
    return touches(function.__self__, write=name not in _READERS, deep=name in _COMPARE)


def _bound_to(function: Any) -> Any:
    return function.__self__ if class_of(function) in _BOUND else None


def _reports(function: Any) -> bool:
    of = class_of(function)
    if of is MethodType:
        return is_instrumented(function.__func__)
    if issubclass(of, type):
        makers = [base.__dict__.get(name) for base in function.__mro__ or () for name in ("__init__", "__new__")]
        return any(is_instrumented(maker.__func__ if class_of(maker) is staticmethod else maker) for maker in makers)
    return is_instrumented(function) or any(is_instrumented(base.__dict__.get("__call__")) for base in of.__mro__ or ())


def _named(function: Any) -> tuple[str, str]:
    """The module and the name of a function that is not one of the program's own objects."""
    found = _BUILTINS.get(function) if class_of(function) is BuiltinMethodType else None
    return _asked(function) if found is None else found


def _asked(function: Any) -> tuple[str, str]:
    if (
        class_of(function) in _CALLED
        or issubclass(class_of(function), type)
        or module_of(class_of(function)) == "numpy"
    ):
        module, name = getattr(function, "__module__", None), getattr(function, "__name__", None)
        return module if type(module) is str else "", name if type(name) is str else ""
    return "", ""


def _of_method(bound: Any, function: Any, arguments: _Arguments, keywords: dict[str, Any]) -> list[Touch]:
    """A method of a container changes that, unless it is known not to, and reads the others."""
    _, name = _named(function)
    writes = name not in _READERS
    found = touches(bound, write=writes, deep=name in _COMPARE)
    unknown = class_of(function) is MethodType and writes
    return found + _all((*arguments, *keywords.values()), write=unknown, deep=True) + _output(keywords)


def _of_function(function: Any, arguments: _Arguments, keywords: dict[str, Any]) -> list[Touch]:
    """A function: of a module, of a class, or a class itself."""
    module, name = _named(function)
    given = (*arguments, *keywords.values())
    if issubclass(class_of(function), type):
        return _all(given, write=False, deep=function is str)
    if module.partition(".")[0] == "numpy" or module_of(class_of(function)) == "numpy":
        return _of_numpy(function, arguments, keywords)
    if class_of(function) in _UNBOUND and arguments:
        return _of_method(arguments[0], function, arguments[1:], keywords)
    if module in _FIRST_MODULES and name in _WRITERS_OF_FIRST:
        return _all(arguments[:1], write=True, deep=True) + _all(given[1:], write=False, deep=True)
    reads = module in _READING_MODULES and name not in _WRITERS
    return _all(given, write=not reads, deep=name not in _SHALLOW)


def _of_numpy(function: Any, arguments: _Arguments, keywords: dict[str, Any]) -> list[Touch]:
    """The last arguments of a numpy function may be what it writes to; a universal function says how many it reads."""
    if _named(function)[1] in _WRITERS:
        return _all((*arguments, *keywords.values()), write=True, deep=True)
    reads: int = getattr(function, "nin", len(arguments))
    outputs = _all(arguments[reads:], write=True, deep=True)
    return _all((*arguments[:reads], *keywords.values()), write=False, deep=True) + outputs + _output(keywords)


def _output(keywords: dict[str, Any]) -> list[Touch]:
    return touches(keywords["out"], write=True, deep=True) if "out" in keywords else []


def _all(values: Iterable[Any], *, write: bool, deep: bool) -> list[Touch]:
    return [touch for value in values for touch in touches(value, write=write, deep=deep)]


_BUILTINS: dict[Any, tuple[str, str]] = {
    each: ("builtins", each.__name__) for each in vars(builtins).values() if class_of(each) is BuiltinMethodType
}


def _get_attribute(arguments: _Arguments) -> list[Touch]:
    return read_attribute(arguments[0], arguments[1]) if len(arguments) > 1 else []


def _set_attribute(arguments: _Arguments) -> list[Touch]:
    return write_attribute(arguments[0], arguments[1]) if len(arguments) > 1 else []


_BY_NAME: dict[Any, Callable[[_Arguments], list[Touch]]] = {
    getattr: _get_attribute, hasattr: _get_attribute, setattr: _set_attribute, delattr: _set_attribute,
}  # fmt: skip
