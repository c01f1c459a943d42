"""What a thread that can never move again waits for, in words, and who holds it.

The raw lock below says little: a Condition parks every waiter on one. The library's frames above it say the rest, so
that a wait in `queue.get` is for an item and one in `Future.result` for an outcome.
"""

from __future__ import annotations

import threading  # noqa: TID251 - a thread may wait for the end of one
from dataclasses import dataclass
from types import FrameType
from typing import Any

from harness.engine.primitives.lock import Lock, WaiterLock
from harness.engine.threads import Controlled
from harness.engine.where import callers, own_frame

__all__ = ["OUTCOME", "SPINNING", "Letters", "Wait", "is_idle_executor_worker", "name_in", "wait_of"]

OUTCOME = "the outcome of a future"
SPINNING = "spinning"
_ANY_NOTIFICATION = "a notification"
_UNIT = "a unit"
_CALLS = {
    "Barrier.wait": "the others at a barrier",
    "Condition.wait": _ANY_NOTIFICATION,
    "Event.wait": "an event",
    "Future.exception": OUTCOME,
    "Future.result": OUTCOME,
    "Queue.get": "an item in a queue",
    "Queue.join": "the end of a queue's work",
    "Queue.put": "room in a queue",
    "Semaphore.acquire": _UNIT,
    "as_completed": "the outcomes of futures",
    "wait": "the outcomes of futures",
}
"""By the qualified name of the library's function; the outermost one is what the service called."""
_KINDS = {
    "ControlledGate": "a gate of the scenario",
    "ControlledSelector": "work for its event loop",
    "SimpleQueue": "an item in a queue",
    "str": "the time to pass",
}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PRIMITIVES = ("threading", "queue", "concurrent.futures", "harness.engine.primitives")
_INNER = ("_inner", "_lock", "_cond", "_condition", "mutex")


class Letters:
    """Names the locks and semaphores that an execution ended at: A, B, ... in the order of first mention."""

    def __init__(self) -> None:
        self._things: list[object] = []

    def of(self, thing: object) -> str:
        """The letter of this very thing."""
        number = next((place for place, known in enumerate(self._things) if known is thing), len(self._things))
        if number == len(self._things):
            self._things.append(thing)
        return _LETTERS[number] if number < len(_LETTERS) else str(number + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One wait without end. `thing` is the object that the service called, for its name; `lock` what has a holder."""

    what: str
    holder: str = ""
    thing: object = None
    lock: object = None


def wait_of(thread: Controlled, letters: Letters) -> Wait:
    """What a blocked thread waits for. Called when nobody runs."""
    thing = thread.waits_for
    if isinstance(thing, threading.Thread):
        target = thing.__dict__.get("_racegate")
        name = target.name if isinstance(target, Controlled) else ""
        return Wait(what=f"the end of {name or 'a thread'}", holder=name)
    if isinstance(thing, WaiterLock):
        return _library_wait(thread.baton.frame(), letters)
    owner: object = getattr(thing, "owner", None)
    holder = owner.name if isinstance(owner, Controlled) else ""
    if isinstance(thing, Lock):
        return Wait(what=f"lock {letters.of(thing)}", holder=holder, thing=thing, lock=thing)
    return Wait(what=_KINDS.get(type(thing).__name__, "something else"), holder=holder, thing=thing)


def _library_wait(frame: FrameType | None, letters: Letters) -> Wait:
    for caller in reversed(callers(frame)):
        what = _CALLS.get(caller.f_code.co_qualname)
        if what is None:
            continue
        thing = caller.f_locals.get("self")
        return Wait(what=f"a unit of semaphore {letters.of(thing)}" if what is _UNIT else what, thing=thing)
    return Wait(what=_ANY_NOTIFICATION)


def is_idle_executor_worker(frame: FrameType | None) -> bool:
    """Whether a thread is an executor's and waits for its next work: the interpreter ends it, daemon or not."""
    return own_frame(frame) is None and any(
        caller.f_code.co_qualname == "_worker" and caller.f_globals.get("__name__") == "concurrent.futures.thread"
        for caller in callers(frame)
    )


def name_in(frame: FrameType | None, thing: object) -> str:
    """How their code calls this thing: `self.NAME`, a local or a global name. Empty if it has no name."""
    own = own_frame(frame)
    if own is None or thing is None:
        return ""
    me = own.f_locals.get("self")
    for prefix, names in (("self.", _members(me)), ("", own.f_locals), ("", own.f_globals)):
        found = next((name for name, value in names.items() if value is not me and _is(value, thing)), "")
        if found:
            return prefix + found
    return ""


def _members(thing: object) -> dict[str, object]:
    """What an object holds, without running any code of its class."""
    try:
        return object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}


def _is(value: Any, thing: object, depth: int = 3) -> bool:
    """Whether a value is the thing, or one of the library's objects that is built on it."""
    if value is thing:
        return True
    if not depth or not str(type(value).__module__).startswith(_PRIMITIVES):
        return False
    return any(_is(getattr(value, name, None), thing, depth - 1) for name in _INNER)
