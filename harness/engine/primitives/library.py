"""Patches of the standard library above the raw locks: its looks at state without a lock."""

from __future__ import annotations

import queue
import threading  # noqa: TID251 - the engine replaces its bottom
from typing import Any

from harness.engine.primitives.clock import library_clock
from harness.engine.threads import current

__all__ = ["install_library"]


def install_library() -> None:
    """Make each look that takes no lock a decision point; the library's own reads of the clock are none."""
    module: Any = threading
    module.Event.__init__, module.Event._cond = _init_event, _EventCondition()  # noqa: SLF001 - its own condition
    module.Event.is_set = module.Event.isSet = _looked(module.Event.is_set)
    module.Barrier.n_waiting = property(_looked(module.Barrier.n_waiting.fget))
    module.Barrier.broken = property(_looked(module.Barrier.broken.fget))
    queues: Any = queue
    module._time = queues.time = library_clock  # noqa: SLF001 - what timed waits read


def _init_event(self: Any) -> None:
    """As its own, but for the condition."""
    self._flag = False


class _EventCondition:
    """An event's condition is made when it is first asked for: every thread has an event, which nobody waits for here.

    Of two real threads that ask at once, both get the same.
    """

    def __get__(self, event: Any, _kind: object = None) -> Any:
        return self if event is None else event.__dict__.setdefault("_cond", threading.Condition(threading.Lock()))


def _looked(read: Any) -> Any:
    def look(self: Any) -> Any:
        me = current()
        if me is not None:
            me.kernel.look(me, self._cond._lock)  # noqa: SLF001 - what those who change it write under
        return read(self)

    return look
