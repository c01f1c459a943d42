"""Which thread's past another thread is certain to have seen.

The kernel logs each synchronisation as a release or an acquire of an object; a fork is a release of the new thread,
its first step the acquire. Whether one moment happens before another is worked out only when somebody asks, by
following the log forward: what a thread releases carries its past to whoever acquires it later (Lamport, CACM
1978).
"""

from __future__ import annotations

__all__ = ["SyncLog"]


class SyncLog:
    """The synchronisations of one execution, in their total order."""

    __slots__ = ("_log", "note")

    def __init__(self) -> None:
        self._log: list[tuple[object, object, bool]] = []
        self.note = self._log.append
        """Notes (thread, what, True): the thread published its past through it; or False: saw what was published."""

    def now(self) -> int:
        """The position to hand to `ordered` later."""
        return len(self._log)

    def ordered(self, since: int, earlier: object, later: object) -> bool:
        """Say whether what `earlier` did before `since` happens before what `later` does next."""
        threads = {id(earlier)}
        carriers: set[int] = set()
        for thread, what, is_release in self._log[since:]:
            if is_release and id(thread) in threads:
                carriers.add(id(what))
            elif not is_release and id(what) in carriers:
                threads.add(id(thread))
        return id(later) in threads
