"""Under which thing an attribute is known: one that is read through an instance may be its class's, or its module's."""

from __future__ import annotations

import gc
from enum import Enum
from functools import cached_property
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

from harness.engine.instrument.contents import Touch, class_of

__all__ = ["is_own", "read_attribute", "read_dynamic", "write_attribute", "write_dynamic"]

_INSTANCES: set[type] = set()
"""Classes whose instances have their attributes in a `__dict__`, as was seen: the common case, told apart for speed."""
_MOST_CLASSES = 2_000
_OF_MEMBERS = frozenset({"name", "value"})
"""What a member of an enumeration is made of, once and for all."""
_IMMUTABLE = 1 << 8
"""The flag of a type whose attributes cannot be stored."""


def read_attribute(thing: Any, name: str) -> list[Touch]:
    """A read of `thing.name` reads the instance, and each class up to the one that has it: a store to any is seen."""
    of = class_of(thing)
    if of in _INSTANCES and name in object.__getattribute__(thing, "__dict__"):
        return [(thing, name, False)]
    if name in _OF_MEMBERS and issubclass(of, Enum):
        return []
    if of is super:
        thing = thing.__self__
        of = class_of(thing)
    if issubclass(of, ModuleType):
        return [(_namespace(thing), name, False)]
    if issubclass(of, type):
        return [(thing, name, False), *_of_classes(thing, name)]
    if name in _namespace(thing):
        if len(_INSTANCES) < _MOST_CLASSES:
            _INSTANCES.add(of)
        return [(thing, name, False)]
    found = _of_classes(of, name)
    stores = isinstance(_of_class(of, name), cached_property)
    return [(thing, name, stores), *found]


def _of_classes(of: type, name: str) -> list[Touch]:
    """The classes that a look-up comes through, to the one that has the name, but for those that cannot change."""
    found: list[Touch] = []
    for owner in of.__mro__ or ():
        if not owner.__flags__ & _IMMUTABLE:
            found.append((owner, name, False))
        if name in owner.__dict__:
            break
    return found


def is_own(thing: Any, name: str) -> bool:
    """Whether an instance has an attribute in its own `__dict__`."""
    if class_of(thing) in _INSTANCES:
        return name in object.__getattribute__(thing, "__dict__")
    return name in _namespace(thing)


def write_attribute(thing: Any, name: str) -> list[Touch]:
    """A store of `thing.name`."""
    return [(_namespace(thing) if issubclass(class_of(thing), ModuleType) else thing, name, True)]


def read_dynamic(thing: Any, name: str) -> list[Touch]:
    """As `read_attribute`, where attributes are also reached as items of `__dict__`. A class's functions stay."""
    if type(_of_class(class_of(thing), name)) is FunctionType and name not in _namespace(thing):
        return []
    return [*read_attribute(thing, name), *_whole(thing, write=False)]


def write_dynamic(thing: Any, name: str) -> list[Touch]:
    """As `write_attribute`, where attributes are also reached as items of `__dict__`."""
    return [*write_attribute(thing, name), *_whole(thing, write=True)]


def _whole(thing: Any, *, write: bool) -> list[Touch]:
    namespace: Any = _namespace(thing)
    if class_of(namespace) is MappingProxyType:
        namespace = gc.get_referents(namespace)[0]
    return [(namespace, "", write)] if namespace is not _NONE else []


def _of_class(of: type, name: str) -> Any:
    """What a class has under a name, found without running anybody's code."""
    return next((owner.__dict__[name] for owner in of.__mro__ or () if name in owner.__dict__), None)


_NONE: dict[str, Any] = {}


def _namespace(thing: Any) -> dict[str, Any]:
    """The object's own attributes, asked without running anybody's code."""
    try:
        return object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        return _NONE
