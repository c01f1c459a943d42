"""Where a value is read and stored by one statement, and iterators that report their steps."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from harness.engine.instrument.contents import CONTAINER, ITERATOR, OWN, Touch, class_of, is_array, kind, touches
from harness.engine.instrument.owners import read_attribute, read_dynamic, write_attribute, write_dynamic

__all__ = ["OPERATORS", "Attribute", "Item", "Notes", "Steps", "change_touches", "item_touches", "store_touches"]

_OPERATOR: Any = operator
_NAMES = {
    "Add": "add", "BitAnd": "and", "BitOr": "or", "BitXor": "xor", "Div": "truediv", "FloorDiv": "floordiv",
    "LShift": "lshift", "MatMult": "matmul", "Mod": "mod", "Mult": "mul", "Pow": "pow", "RShift": "rshift",
    "Sub": "sub",
}  # fmt: skip
_COMPARISONS = {"Eq": "eq", "Gt": "gt", "GtE": "ge", "Lt": "lt", "LtE": "le", "NotEq": "ne"}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    **{node: getattr(_OPERATOR, f"__{name}__") for node, name in (_NAMES | _COMPARISONS).items()},
    **{f"i{node}": getattr(_OPERATOR, f"__i{name}__") for node, name in _NAMES.items()},
}
"""By the name of the syntax node; in place with an i in front."""


_DICT: Any = dict
_PLAIN = frozenset({dict, list})
_CONTAINS: Callable[[Any, Any], bool] = _DICT.__contains__


class Notes(Protocol):
    """What takes the reports of one module."""

    def report(self, find: Callable[..., list[Touch]], *arguments: Any) -> None:
        """Report the accesses that `find` finds, about to be made together. Nothing on a thread of no execution."""
        ...

    def controls(self) -> bool:
        """Whether the caller's thread is controlled."""
        ...


class _Place:
    """`value` is read, changed and stored again, with another thread's steps between, perhaps."""

    __slots__ = ("_notes",)

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def _loaded(self, value: Any) -> Any:
        """What an augmented assignment changes: a container changes in place, and says so."""
        if self._notes.controls() and kind(class_of(value)) == CONTAINER:
            return _InPlace(self._notes, value)
        return value


class Attribute(_Place):
    """`thing.name`."""

    __slots__ = ("_dynamic", "_name", "_thing")

    def __init__(self, notes: Notes, thing: Any, name: str, *, dynamic: bool) -> None:
        super().__init__(notes)
        self._thing = thing
        self._name = name
        self._dynamic = dynamic

    @property
    def value(self) -> Any:
        """The attribute."""
        self._notes.report(read_dynamic if self._dynamic else read_attribute, self._thing, self._name)
        return self._loaded(getattr(self._thing, self._name))

    @value.setter
    def value(self, value: Any) -> None:
        self._notes.report(write_dynamic if self._dynamic else write_attribute, self._thing, self._name)
        setattr(self._thing, self._name, value)


class Item(_Place):
    """`container[key]`."""

    __slots__ = ("_container", "_key")

    def __init__(self, notes: Notes, container: Any, key: Any) -> None:
        super().__init__(notes)
        self._container = container
        self._key = key

    @property
    def value(self) -> Any:
        """The item."""
        self._notes.report(item_touches, self._container, self._key)
        return self._loaded(self._container[self._key])

    @value.setter
    def value(self, value: Any) -> None:
        self._notes.report(store_touches, self._container, value, self._key)
        self._container[self._key] = value

    @value.deleter
    def value(self) -> None:
        self._notes.report(store_touches, self._container, None)
        del self._container[self._key]


def item_touches(container: Any, key: Any) -> list[Touch]:
    """A read of an item; of a missing one, where the class makes it, a write."""
    of = class_of(container)
    writes = of not in _PLAIN and issubclass(of, _DICT) and _makes_missing(of) and not _has(container, key)
    return touches(container, write=writes)


def _makes_missing(of: type) -> bool:
    return any("__missing__" in base.__dict__ and base is not Counter for base in of.__mro__ or ())


def _has(container: dict[Any, Any], key: Any) -> bool:
    """Whether the key is there, asked only where no code of anybody's is run for it."""
    return class_of(key) in {str, int, bytes, bool, type(None)} and _CONTAINS(container, key)


def store_touches(container: Any, value: Any, key: object = None) -> list[Touch]:
    """A store of an item; into an array, and into a slice, it reads what is stored."""
    copies = isinstance(key, slice) or is_array(container)
    return touches(container, write=True) + (touches(value) if copies else [])


def change_touches(target: Any, value: Any) -> list[Touch]:
    """A change in place, which reads another value."""
    return touches(target, write=True) + touches(value)


class _InPlace:
    """A container on the left of an augmented assignment."""

    __slots__ = ("notes", "value")

    def __init__(self, notes: Notes, value: Any) -> None:
        self.notes = notes
        self.value = value


def _in_place(operation: Callable[[Any, Any], Any]) -> Callable[[_InPlace, Any], Any]:
    def change(self: _InPlace, other: Any) -> Any:
        self.notes.report(change_touches, self.value, other)
        return operation(self.value, other)

    return change


for _node, _name in _NAMES.items():
    setattr(_InPlace, f"__i{_name}__", _in_place(OPERATORS[f"i{_node}"]))


class Steps:
    """An iterator that reports each step. With `unpacks`, what it gives is looked into at once, which is reported."""

    __slots__ = ("_iterator", "_known", "_notes", "_unpacks", "_walked")

    def __init__(self, notes: Notes, iterated: Any, *, unpacks: bool) -> None:
        self._notes = notes
        self._iterator = iter(iterated)
        self._walked = None if self._iterator is iterated else iterated
        self._known = [(iterated, "", False)] if class_of(iterated) in OWN else None
        self._unpacks = unpacks

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._notes.report(self._stepped)
        value = next(self._iterator)
        if self._unpacks:
            self._notes.report(_unpacked, value)
        return value

    def _stepped(self) -> list[Touch]:
        """What a step touches: the iterator, unless the loop itself made it, and what is behind it."""
        if self._known is not None:
            return self._known
        found = [] if self._walked is None else touches(self._walked)
        behind = touches(self._iterator) if kind(class_of(self._iterator)) == ITERATOR else []
        return found + (behind if self._walked is None else behind[1:])


def _unpacked(value: Any) -> list[Touch]:
    return touches(value, deep=True)
