"""One controlled thread as the kernel sees it, and the way from the running carrier to it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from harness.engine.real import get_ident

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.engine.carriers.carrier import Baton
    from harness.engine.scheduler import Scheduler

__all__ = ["Controlled", "ExecutionAbortedError", "State", "current"]


class ExecutionAbortedError(BaseException):
    """Unwinds a thread whose execution is over. Not an Exception, so that the code under test does not handle it."""


class State(Enum):
    """Whether a thread can be chosen."""

    READY = "ready"
    BLOCKED = "blocked"
    NATIVE = "native"
    DONE = "done"


class Controlled:
    """A controlled thread. Its fields are read and written only by whoever holds the token."""

    __slots__ = (
        "aborted", "baton", "body", "clock", "daemon", "deadline_ns", "died_of", "fired", "ident", "in_call", "joiners",
        "kernel", "name", "number", "past", "ran_at", "role", "state", "step", "steps", "thread", "waits_for",
    )  # fmt: skip
    __deletable__ = ("baton", "body", "joiners", "kernel", "thread")
    """What the compiler must know: these are deleted once they are of no use, so that no cycle is left."""

    def __init__(self, kernel: Scheduler, number: int, name: str, *, role: str, daemon: bool, thread: Any) -> None:
        self.kernel = kernel
        self.number = number
        self.name = name
        self.role = role
        self.daemon = daemon
        self.thread = thread
        self.state = State.READY
        self.waits_for: object = None
        self.deadline_ns: int | None = None
        self.fired = False
        self.aborted = False
        self.in_call = False
        self.steps = 0
        self.ran_at = 0
        self.past = 0
        self.step = 0
        self.joiners: list[Controlled] = []
        self.died_of: BaseException | None = None
        self.ident = 0
        self.clock: list[int]
        self.baton: Baton
        self.body: Callable[[Any], object]


CONTROLLED: dict[int, Controlled] = {}
"""From a carrier's identity to the controlled thread that it carries now."""


def current() -> Controlled | None:
    """Return the controlled thread that calls, None on a thread of no execution."""
    return CONTROLLED.get(get_ident())
