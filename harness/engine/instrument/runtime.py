"""What instrumented code calls. On a thread of no execution each does what the plain code did, and nothing else.

Each report is made just before the access, with no decision point between the two: after everything that the access
needs has been evaluated. `CONTROLLED` is empty while nothing is controlled, and a function is then done at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import resolve_name
from typing import Any

from harness.engine.instrument.callees import effects, may_touch
from harness.engine.instrument.contents import CONTAINER, ITERATOR, KINDS, Touch, class_of, kind, some_touch, touches
from harness.engine.instrument.owners import is_own, read_attribute, read_dynamic, write_attribute, write_dynamic
from harness.engine.instrument.places import (
    OPERATORS,
    Attribute,
    Item,
    Steps,
    change_touches,
    item_touches,
    store_touches,
)
from harness.engine.real import get_ident
from harness.engine.threads import CONTROLLED, Controlled

__all__ = ["names"]

_frame = sys._getframe  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - whose globals a name means
_CALLER = 1 if __file__.endswith(".py") else 0
"""How far up the caller's frame is: compiled, a function of this module has none of its own."""


class Reports:
    """What the instrumented code of one module calls, with the module's own shared variables.

    With `decides`, each report is a decision point at statement granularity; the library's modules only report.
    """

    def __init__(self, *, decides: bool) -> None:
        self._decides = decides

    def controls(self) -> bool:
        """Whether the caller's thread is controlled."""
        return bool(CONTROLLED) and get_ident() in CONTROLLED

    def report(self, find: Callable[..., list[Touch]], *arguments: Any) -> None:
        """Report accesses that are about to be made together, in one step.

        What they touch is asked again after the decision point: others may have changed what there is to touch.
        """
        me = CONTROLLED.get(get_ident())
        if me is None:
            return
        decides = self._decides and me.kernel.at_statements
        if not decides and me.kernel.causality is None:
            return
        if decides and find(*arguments):
            me.kernel.point(me)
        _note(me, find(*arguments))

    def report_one(self, find: Callable[..., list[Touch]], *arguments: Any) -> None:
        """As `report`, where something is touched for certain."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            return
        if self._decides and me.kernel.at_statements:
            me.kernel.point(me)
        if me.kernel.causality is not None:
            _note(me, find(*arguments))

    # -- attributes ---------------------------------------------------------------------------------------------------

    def get(self, thing: Any, name: str) -> Any:
        """`thing.name` is about to be read: `report_one`, written out for what is reported most."""
        me = CONTROLLED.get(get_ident()) if CONTROLLED else None
        if me is not None:
            kernel = me.kernel
            if self._decides and kernel.at_statements:
                kernel.point(me)
            if kernel.causality is not None:
                _note(me, read_attribute(thing, name))
        return thing

    def get_final(self, thing: Any, name: str) -> Any:
        """As `get`, of an attribute that its `__init__` stores once: nobody can race on it once it is there."""
        if CONTROLLED and not is_own(thing, name):
            self.report_one(read_attribute, thing, name)
        return thing

    def write(self, thing: Any, name: str) -> Any:
        """`thing.name` is about to be stored or deleted."""
        if CONTROLLED:
            self.report_one(write_attribute, thing, name)
        return thing

    def get_any(self, thing: Any, name: str) -> Any:
        """As `get`, in a package that stores attributes under names which it makes."""
        if CONTROLLED:
            self.report(read_dynamic, thing, name)
        return thing

    def write_any(self, thing: Any, name: str) -> Any:
        """As `write`, in a package that reads attributes under names which it makes."""
        if CONTROLLED:
            self.report(write_dynamic, thing, name)
        return thing

    def place(self, thing: Any, name: str) -> Attribute:
        """`thing.name`, in an augmented assignment."""
        return Attribute(self, thing, name, dynamic=False)

    def place_any(self, thing: Any, name: str) -> Attribute:
        """As `place`, in a package that reaches attributes under names which it makes."""
        return Attribute(self, thing, name, dynamic=True)

    # -- variables ----------------------------------------------------------------------------------------------------

    def variable(self, *keys: str) -> None:
        """A variable that several functions share is about to be read."""
        if CONTROLLED:
            self.report_one(self._read_variables, keys, _frame(_CALLER).f_globals)

    def store(self, value: Any, *keys: str) -> Any:
        """Shared variables are about to be stored, or deleted."""
        if CONTROLLED:
            self.report_one(self._written_variables, keys, _frame(_CALLER).f_globals)
        return value

    def stored(self, *keys: str) -> None:
        """Shared variables have just been stored: since then there was no decision point, and here is none."""
        me = CONTROLLED.get(get_ident())
        if me is not None:
            _note(me, self._written_variables(keys, _frame(_CALLER).f_globals))

    def _read_variables(self, keys: tuple[str, ...], namespace: dict[str, Any]) -> list[Touch]:
        """A function's variable is known by its function's place in the module, a global by its module's namespace."""
        return [(self if "@" in key else namespace, key, False) for key in keys]

    def _written_variables(self, keys: tuple[str, ...], namespace: dict[str, Any]) -> list[Touch]:
        return [(thing, key, True) for thing, key, _ in self._read_variables(keys, namespace)]

    # -- contents -----------------------------------------------------------------------------------------------------

    def read(self, value: Any, *others: Any) -> Any:
        """The contents of values are about to be looked at."""
        if CONTROLLED and (KINDS.get(class_of(value), CONTAINER) or some_touch(others)):
            self.report(_read, value, *others)
        return value

    def look(self, value: Any, *others: Any) -> Any:
        """The contents of values are about to be looked at, and those of the values in them."""
        if CONTROLLED and (KINDS.get(class_of(value), CONTAINER) or some_touch(others)):
            self.report(_looked, value, *others)
        return value

    def at(self, container: Any, key: Any) -> Any:
        """`container[key]` is about to be read."""
        if CONTROLLED:
            self.report(item_touches, container, key)
        return container

    def item(self, container: Any, key: Any) -> Any:
        """`container[key]`, read."""
        if CONTROLLED:
            self.report(item_touches, container, key)
        return container[key]

    def change(self, container: Any, value: Any = None, key: object = None) -> Any:
        """An item is about to be stored, or deleted."""
        if CONTROLLED:
            self.report(store_touches, container, value, key)
        return container

    def slot(self, container: Any, key: Any) -> Item:
        """`container[key]`, to be stored, deleted or changed."""
        return Item(self, container, key)

    def into(self, target: Any, value: Any) -> Any:
        """A local variable's value is about to be changed by `op=`: in place, if it is a container."""
        if CONTROLLED and KINDS.get(class_of(target), CONTAINER):
            self.report(change_touches, target, value)
        return value

    def binary(self, left: Any, operation: str, right: Any) -> Any:
        """An operator on two values."""
        if CONTROLLED and (KINDS.get(class_of(left), CONTAINER) or KINDS.get(class_of(right), CONTAINER)):
            self.report(change_touches if operation[0] == "i" else _looked, left, right)
        return OPERATORS[operation](left, right)

    # -- iteration ----------------------------------------------------------------------------------------------------

    def each(self, iterated: Any) -> Any:
        """What a loop walks over: each step is reported."""
        return self._steps(iterated, unpacks=False) if CONTROLLED else iterated

    def each_unpacked(self, iterated: Any) -> Any:
        """What a loop walks over, to unpack each value."""
        return self._steps(iterated, unpacks=True) if CONTROLLED else iterated

    def _steps(self, iterated: Any, *, unpacks: bool) -> Any:
        of = class_of(iterated)
        fixed = of is range or of is str or (of is tuple and not unpacks)
        return iterated if fixed or get_ident() not in CONTROLLED else Steps(self, iterated, unpacks=unpacks)

    def delegate(self, iterated: Any) -> Any:
        """What `yield from` walks over; a generator reports for itself, but that it is stepped."""
        of = class_of(iterated)
        if CONTROLLED and get_ident() in CONTROLLED and kind(of) in {CONTAINER, ITERATOR}:
            if not hasattr(of, "send"):
                return Steps(self, iterated, unpacks=False)
            self.report(_read, iterated)
        return iterated

    # -- calls --------------------------------------------------------------------------------------------------------

    def use(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """A function is about to be called with these arguments."""
        if CONTROLLED and may_touch(function, arguments, keywords):
            self.report(effects, function, arguments, keywords)
        return function

    def ready(self, function: Any, /, *arguments: Any, **keywords: Any) -> Callable[[], Any]:
        """A function with its arguments, to be called at once where the plain code calls it."""
        if CONTROLLED and may_touch(function, arguments, keywords):
            self.report(effects, function, arguments, keywords)
        return partial(function, *arguments, **keywords)

    # -- patterns -----------------------------------------------------------------------------------------------------

    def match(self, subject: Any, *attributes: str) -> Any:
        """Patterns are about to look at a value, and at these attributes of it."""
        if CONTROLLED:
            self.report(_matched, subject, *attributes)
        return subject

    def matched(self, subject: Any, *attributes: str) -> None:
        """A guard was false, and the next patterns are about to look again."""
        if CONTROLLED:
            self.report(_matched, subject, *attributes)

    def imported(self, source: str, *names: str) -> None:
        """A module's variables were just read by an import from it."""
        me = CONTROLLED.get(get_ident())
        if me is not None:
            package = _frame(_CALLER).f_globals.get("__package__")
            module = sys.modules[resolve_name(source, package)]
            _note(me, [(module.__dict__, name, False) for name in names])


def _note(me: Controlled, found: list[Touch]) -> None:
    """What `touch` does with each of them, in fewer calls: there are hundreds in an execution."""
    causality = me.kernel.causality
    if causality is not None:
        for thing, name, write in found:
            causality.access(me, thing, name, "" if write else "read")


def _read(*values: Any) -> list[Touch]:
    return [touch for value in values for touch in touches(value)]


def _looked(*values: Any) -> list[Touch]:
    return [touch for value in values for touch in touches(value, deep=True)]


def _matched(subject: Any, *attributes: str) -> list[Touch]:
    return [touch for name in attributes for touch in read_attribute(subject, name)] + _looked(subject)


_METHODS = (
    "at", "binary", "change", "delegate", "each", "each_unpacked", "get", "get_any", "get_final", "imported", "into",
    "item", "look", "match", "matched", "place", "place_any", "read", "ready", "slot", "store", "stored", "use",
    "variable", "write", "write_any",
)  # fmt: skip


def names(*, decides: bool = True) -> dict[str, Any]:
    """What the transformed source of one module refers to."""
    reports = Reports(decides=decides)
    return {f"_racegate_{name}": getattr(reports, name) for name in _METHODS} | {"_racegate_slice": slice}
