"""The re-entrant lock, dual-mode, for `given.py` to give out."""

from __future__ import annotations

from _thread import RLock as RealRLock
from typing import Any

from harness.engine.compiling import mypyc_attr
from harness.engine.primitives.lock import Lock
from harness.engine.real import get_ident
from harness.engine.threads import CONTROLLED, current

__all__ = ["RLock"]


@mypyc_attr(allow_interpreted_subclasses=True)
class RLock:
    """`threading.RLock`. A controlled owner is known by its thread, a real one by the real lock below."""

    __slots__ = ("_count", "_inner", "raw")

    def __init__(self, raw: Any = None) -> None:
        self.raw: Any = RealRLock() if raw is None else raw
        self._inner = Lock()
        self._count = 0

    @property
    def owner(self) -> object:
        """The controlled thread that holds it, None if none does."""
        return self._inner.owner

    def acquire(self, blocking: Any = True, timeout: Any = -1) -> bool:  # noqa: FBT002 - the standard signature
        """Acquire, again if this thread holds it already."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            return self.raw.acquire(blocking, timeout)
        if self._inner.owner is me:
            self._count += 1
            return True
        if not self._inner.acquire(blocking, timeout):
            return False
        self._count = 1
        return True

    def release(self) -> None:
        """Release once. Raises RuntimeError for a thread that does not hold it."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            self.raw.release()
            return
        if self._inner.owner is not me:
            message = "cannot release un-acquired lock"
            raise RuntimeError(message)
        self._count -= 1
        if self._count == 0:
            self._inner.release()

    def __exit__(self, *_: object) -> None:
        RLock.release(self)

    def held(self) -> bool:
        """Say whether a thread holds it: `locked`, from CPython 3.14 on."""
        return self.raw.locked() if current() is None else self._inner.locked()

    def _is_owned(self) -> bool:
        me = CONTROLLED.get(get_ident())
        return self.raw._is_owned() if me is None else self._inner.owner is me  # noqa: SLF001 - Condition asks it so

    def _recursion_count(self) -> int:
        return self._count if self._inner.owner is current() else 0

    def _release_save(self) -> object:
        if current() is None:
            return self.raw._release_save()  # noqa: SLF001 - Condition asks it so
        count, self._count = self._count, 0
        self._inner.give()
        return count

    def _acquire_restore(self, state: Any) -> None:
        if current() is None:
            self.raw._acquire_restore(state)  # noqa: SLF001 - Condition asks it so
            return
        self._inner.take()
        self._count = state

    def _at_fork_reinit(self) -> None:
        self.raw = RealRLock()
        self._inner = Lock()
        self._count = 0
