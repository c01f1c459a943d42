"""A signature of the past of an execution, the same for every order of the same independent steps.

Each thread carries a hash of its causal history. An access to a thing mixes the thread's hash with that of the
thing's last write, and of the reads since where it writes; so two prefixes of executions have equal signatures
exactly when one becomes the other by swapping neighbouring steps that do not conflict (Mazurkiewicz traces), up to
collisions of a 64-bit hash. Equal signatures mean equal states, if every conflicting access is reported: locks,
queues, threads, time, the history's events, and the shared attributes and containers of instrumented modules.
"""

from __future__ import annotations

from harness.engine.threads import Controlled

__all__ = ["Causality"]


class _Thing:
    """What is known of one accessed thing: its last accesses that commute, and all that came before them.

    `keep` holds the object, so that its identity is not reused meanwhile.
    """

    __slots__ = ("before", "group", "keep", "latest")

    def __init__(self, keep: object, group: str) -> None:
        self.keep = keep
        self.before = 0
        self.group = group
        self.latest = 0


class Causality:
    """Hashes the causal past of each thread of one execution, which stands in the thread's `past`."""

    def __init__(self) -> None:
        self._things: dict[tuple[int, str], _Thing] = {}
        self._threads: list[Controlled] = []

    def started(self, child: Controlled, parent: Controlled | None) -> None:
        """A thread begins with its parent's past; its number among the parent's children is part of that past."""
        past = (len(self._threads), "root") if parent is None else parent.past
        child.past = hash((past, "child"))
        self._threads.append(child)
        if parent is not None:
            parent.past = hash((past, "parent"))

    def access(self, thread: Controlled, what: object, name: str, group: str) -> None:
        """A thread accesses a thing: an object, or one named part of it. Accesses of one group commute.

        Those of the group "" (writes) do not commute with each other either.
        """
        key = id(what), name
        thing = self._things.get(key)
        if thing is None:
            thing = self._things[key] = _Thing(what, group)
        elif not group or group != thing.group:
            thing.before = hash((thing.before, thing.latest))
            thing.group, thing.latest = group, 0
        thread.past = past = hash((thread.past, thing.before))
        thing.latest ^= past

    def signature(self, by: Controlled | None) -> int:
        """The signature of the state, with the thread that could go on without a preemption."""
        pasts = [thread.past for thread in self._threads]
        pasts.sort()
        return hash((tuple(pasts), 0 if by is None else by.past))
