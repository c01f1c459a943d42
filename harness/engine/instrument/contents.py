"""What a value shares with others through its contents: which things are touched when it is looked into, or changed.

A container's contents count as one thing; so does the memory behind arrays and views of them. Stepping an iterator
changes it, and reads what it walks over. Values that cannot change have no contents here, but may hold some that can.
"""

from __future__ import annotations

import array
import enum
import functools
import gc
import itertools
import re
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, GeneratorType
from typing import Any

__all__ = [
    "CONTAINER", "ITERATOR", "KINDS", "MARK", "NOTHING", "OWN", "Touch", "class_of", "is_array", "is_instrumented",
    "kind", "module_of", "some_touch", "touches",
]  # fmt: skip

NOTHING, CONTAINER, ITERATOR, HOLDER = range(4)
"""No contents; contents that can change; an iterator; contents that are fixed, but may hold some that can change."""

Touch = tuple[Any, str, bool]
"""A thing, the name of a part of it, and whether it is written."""

class_of: Callable[[object], type[Any]] = type
"""What `type` returns."""
_CACHE = class_of(functools.lru_cache(int))
MARK = "_racegate_get"
"""A global of instrumented code: what it does with its values it reports itself."""
_MOST = 500
"""So many values are looked at, in nested containers: beyond that their own contents are not known to the search."""
_DEPTH = 6
_FIXED = (
    str, bytes, int, float, complex, range, frozenset, type, type(None), enum.Enum, re.Match, re.Pattern, slice,
    types.GenericAlias, types.ModuleType, BaseException,
)  # fmt: skip
_EMPTY: dict[Any, Any] = {}
_VIEWS = frozenset(map(class_of, (_EMPTY.keys(), _EMPTY.values(), _EMPTY.items())))
_LOOKS = ("__getitem__", "__len__", "__iter__", "__contains__")
_BUILTIN = frozenset({"builtins", "collections", "_collections", "itertools", "numpy"})
OWN = frozenset({list, dict, set, deque, OrderedDict, defaultdict, Counter, array.array})
"""Classes whose contents are no other value's memory: the common case, told apart for speed."""
KINDS: dict[type, int] = {}
"""What `kind` has found so far."""
_MOST_KINDS = 2_000
"""Classes made within executions must not pile up here."""


def kind(of: type) -> int:
    """What the values of a type share through their contents."""
    found = KINDS.get(of)
    if found is None:
        if len(KINDS) > _MOST_KINDS:
            KINDS.clear()
        found = KINDS[of] = _kind(of)
    return found


def some_touch(values: tuple[Any, ...]) -> bool:
    """Whether one of these values may have contents."""
    for value in values:  # noqa: SIM110 - on the way of every call: a generator would cost more than it does
        if KINDS.get(class_of(value), CONTAINER):
            return True
    return False


def _kind(of: type[Any]) -> int:
    if issubclass(of, tuple | frozenset):
        return HOLDER
    if issubclass(of, _FIXED) or (
        module_of(of) == "numpy" and any(base.__name__ == "generic" for base in of.__mro__ or ())
    ):
        return NOTHING
    if any(_foreign(base, "__next__") for base in of.__mro__ or ()):
        return ITERATOR
    return CONTAINER if any(_foreign(base, name) for base in of.__mro__ or () for name in _LOOKS) else NOTHING


def _foreign(owner: type, name: str) -> bool:
    """Whether a class defines a method that does not report what it does."""
    method = owner.__dict__.get(name)
    return method is not None and not is_instrumented(method)


def is_instrumented(function: Any) -> bool:
    """Whether a function reports its accesses itself."""
    if class_of(function) is _CACHE:
        function = function.__wrapped__
    while class_of(function) is FunctionType:
        if MARK in function.__globals__:
            return True
        function = function.__dict__.get("__wrapped__")
    return False


def module_of(of: type) -> str:
    """The module of a class; one that is made by hand may have none."""
    name = getattr(of, "__module__", "")
    return name if class_of(name) is str else ""


def is_array(value: Any) -> bool:
    """Whether a store of a value in this one copies what the value holds."""
    of = class_of(value)
    if of in OWN:
        return False
    return issubclass(of, memoryview | bytearray) or _defines(of, "__array_interface__")


def _owner_of_memory(value: Any) -> Any:
    """The thing that stands for the contents of a view: what it is a view of."""
    for _ in range(_DEPTH):
        behind = _behind(value)
        if behind is None:
            return value
        value = behind
    return value


def _behind(value: Any) -> Any:
    of = class_of(value)
    if of is memoryview:
        try:
            return value.obj
        except ValueError:  # released
            return None
    if of in _VIEWS:
        return value.mapping
    if of is types.MappingProxyType:
        return gc.get_referents(value)[0]
    if module_of(of) == "numpy" or _defines(of, "__array_interface__"):
        return getattr(value, "base", None)
    return getattr(value, "_b_base_", None) if _defines(of, "_b_base_") else None


def _defines(of: type, name: str) -> bool:
    return any(name in base.__dict__ for base in of.__mro__ or ())


def touches(value: Any, *, write: bool = False, deep: bool = False) -> list[Touch]:
    """What is touched where a value's contents are read or written; with `deep`, those of the values in it as well."""
    of = class_of(value)
    if (KINDS[of] if of in KINDS else kind(of)) == NOTHING:
        return []
    if of in OWN and (not deep or _is_flat(value, of)):
        return [(value, "", write)]
    walk = _Walk(write=write, deep=deep)
    walk.add(value, 0)
    return walk.found


def _is_flat(value: Any, of: type) -> bool:
    """Whether a list holds nothing that has contents."""
    return of is list and len(value) < _MOST and not any(map(kind, set(map(class_of, value))))


class _Walk:
    """Collects the things behind one value, each once."""

    def __init__(self, *, write: bool, deep: bool) -> None:
        self._write = write
        self._deep = deep
        self._seen: set[int] = set()
        self._left = _MOST
        self.found: list[Touch] = []

    def add(self, value: Any, depth: int) -> None:
        what = kind(class_of(value))
        if what == NOTHING or id(value) in self._seen or depth > _DEPTH:
            return
        self._seen.add(id(value))
        if what == ITERATOR:
            self._add_iterator(value, depth)
        elif what == CONTAINER:
            self.found.append((value if class_of(value) in OWN else _owner_of_memory(value), "", self._write))
        if self._deep and what != ITERATOR:
            self._add_all(_held(value), depth)

    def _add_iterator(self, value: Any, depth: int) -> None:
        """Stepping an iterator writes it; what it walks over is read."""
        self.found.append((_owner_of_memory(value), "", True))
        if module_of(class_of(value)) in _BUILTIN and class_of(value) is not GeneratorType:
            outer, self._write = self._write, False
            self._add_all(gc.get_referents(value), depth)
            self._write = outer

    def _add_all(self, values: Iterable[Any], depth: int) -> None:
        looked = list(itertools.islice(values, self._left))
        self._left -= len(looked)
        if not any(map(kind, set(map(class_of, looked)))):
            return
        for value in looked:
            if class_of(value) is tuple and not self._deep:
                self._add_all(_in_tuple(value), depth + 1)
            else:
                self.add(value, depth + 1)


def _plain_dict(value: dict[Any, Any]) -> Iterator[Any]:
    return itertools.chain.from_iterable(_items(value))


_DICT: Any = dict
_LIST: Any = list
_TUPLE: Any = tuple
_items: Callable[[Any], Iterable[tuple[Any, Any]]] = _DICT.items
_listed: Callable[[Any], Iterable[Any]] = _LIST.__iter__
_in_tuple: Callable[[Any], Iterable[Any]] = _TUPLE.__iter__
_HELD: dict[type, Callable[[Any], Iterable[Any]]] = {
    list: _listed, tuple: _in_tuple, dict: _plain_dict,
}  # fmt: skip


def _held(value: Any) -> Iterable[Any]:
    """The values that one of the builtin containers holds, asked without running anybody's code."""
    for of, ask in _HELD.items():
        if issubclass(class_of(value), of):
            return ask(value)
    if module_of(class_of(value)) in {"collections", "_collections"} or issubclass(class_of(value), set | frozenset):
        return gc.get_referents(value)
    return ()
