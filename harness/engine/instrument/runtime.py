"""What instrumented code calls. On a thread of no execution each does what the plain code did, and nothing else."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from harness.engine.real import get_ident
from harness.engine.threads import CONTROLLED

__all__ = ["CONTAINERS", "names"]

CONTAINERS = frozenset({list, dict, set, deque, OrderedDict, defaultdict, Counter, bytearray})
"""Containers whose methods are written in C: what they hold counts as one thing."""

_READERS = frozenset({"copy", "count", "get", "index", "items", "keys", "values"})


class Reports:
    """What the instrumented code of one module calls, with the module's own shared variables.

    With `decides`, each report is a decision point at statement granularity; the library's modules only report.
    """

    def __init__(self, *, decides: bool) -> None:
        self._decides = decides

    def _report(self, thing: object, name: str, *, write: bool) -> None:
        me = CONTROLLED.get(get_ident())
        if me is None:
            return
        if self._decides:
            me.kernel.access(me, thing, name, write=write)
        else:
            me.kernel.touch(me, thing, name, write=write)

    def _report_contents(self, container: Any, *, write: bool) -> None:
        """An access to what a container holds; nothing for any other value."""
        if type(container) in CONTAINERS:
            self._report(container, "", write=write)

    def get(self, thing: Any, name: str) -> Any:
        """`thing.name`, read."""
        self._report(thing, name, write=False)
        return getattr(thing, name)

    def write(self, thing: Any, name: str) -> None:
        """`thing.name` is about to be written."""
        self._report(thing, name, write=True)

    def call(self, thing: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """`thing.name(...)`, where the name is one that containers have."""
        self._report_contents(thing, write=name not in _READERS)
        return getattr(thing, name)(*args, **kwargs)

    def item(self, container: Any, key: Any) -> Any:
        """`container[key]`, read."""
        self._report_contents(container, write=False)
        return container[key]

    def change(self, container: Any) -> None:
        """An item is about to be stored or deleted."""
        self._report_contents(container, write=True)

    def read(self, value: Any) -> Any:
        """A value whose contents are about to be looked at: by len(), bool(), `in` or iteration."""
        self._report_contents(value, write=False)
        return value

    def variable(self, name: str, value: Any) -> Any:
        """A variable that several functions share was read."""
        self._report(self, name, write=False)
        return value

    def write_variable(self, name: str) -> None:
        """A variable that several functions share is about to be written."""
        self._report(self, name, write=True)


_METHODS = ("call", "change", "get", "item", "read", "variable", "write", "write_variable")


def names(*, decides: bool = True) -> dict[str, Any]:
    """What the transformed source of one module refers to."""
    reports = Reports(decides=decides)
    return {f"_racegate_{name}": getattr(reports, name) for name in _METHODS}
