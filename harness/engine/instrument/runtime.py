"""What instrumented code calls. On a thread of no execution each does what the plain code did, and nothing else."""

from __future__ import annotations

from _thread import get_ident
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from harness.engine.threads import CONTROLLED

__all__ = ["CONTAINERS", "names"]

CONTAINERS = frozenset({list, dict, set, deque, OrderedDict, defaultdict, Counter, bytearray})
"""Containers whose methods are written in C: what they hold counts as one thing."""

_READERS = frozenset({"copy", "count", "get", "index", "items", "keys", "values"})


def get(thing: Any, name: str) -> Any:
    """`thing.name`, read."""
    me = CONTROLLED.get(get_ident())
    if me is not None:
        me.kernel.access(me, thing, name, write=False)
    return getattr(thing, name)


def write(thing: Any, name: str) -> None:
    """`thing.name` is about to be written."""
    me = CONTROLLED.get(get_ident())
    if me is not None:
        me.kernel.access(me, thing, name, write=True)


def call(thing: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """`thing.name(...)`, where the name is one that containers have."""
    if type(thing) in CONTAINERS:
        note(thing, write=name not in _READERS)
    return getattr(thing, name)(*args, **kwargs)


def item(container: Any, key: Any) -> Any:
    """`container[key]`, read."""
    note(container, write=False)
    return container[key]


def read(value: Any) -> Any:
    """A value whose contents are about to be looked at: by len(), bool(), `in` or iteration."""
    note(value, write=False)
    return value


def note(container: Any, *, write: bool) -> None:
    """Note an access to what a container holds; nothing for any other value."""
    if type(container) not in CONTAINERS:
        return
    me = CONTROLLED.get(get_ident())
    if me is not None:
        me.kernel.access(me, container, "", write=write)


def change(container: Any) -> None:
    """What a container holds is about to be changed by an item's store or deletion."""
    note(container, write=True)


class Variables:
    """The variables of one module that several of its functions share, by name: each name counts as one thing."""

    def variable(self, name: str, value: Any) -> Any:
        """A variable was read."""
        me = CONTROLLED.get(get_ident())
        if me is not None:
            me.kernel.access(me, self, name, write=False)
        return value

    def write(self, name: str) -> None:
        """A variable is about to be written."""
        me = CONTROLLED.get(get_ident())
        if me is not None:
            me.kernel.access(me, self, name, write=True)


def names() -> dict[str, Any]:
    """What the transformed source of one module refers to."""
    variables = Variables()
    return {
        "_racegate_call": call,
        "_racegate_change": change,
        "_racegate_get": get,
        "_racegate_item": item,
        "_racegate_read": read,
        "_racegate_variable": variables.variable,
        "_racegate_write": write,
        "_racegate_write_variable": variables.write,
    }
