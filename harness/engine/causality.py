"""A signature of the past of an execution, the same for every order of the same independent steps.

Each thread carries a hash of its causal history. An access to a thing mixes the thread's hash with that of the
thing's last write, and of the reads since where it writes; so two prefixes of executions have equal signatures
exactly when one becomes the other by swapping neighbouring steps that do not conflict (Mazurkiewicz traces), up to
collisions of a 64-bit hash. Equal signatures mean equal states, if every conflicting access is reported: locks,
queues, threads, time, the history's events, and the shared attributes and containers of instrumented modules.

The same accesses tell which steps *raced*: a step of one thread with which a later access of another conflicts, where
the other could not know of the step: no chain of conflicts led from the one to the other before (vector clocks, as in
Mattern 1989, of how many accesses of each thread a thread knows).
"""

from __future__ import annotations

from collections.abc import Callable

from harness.engine.threads import Controlled

__all__ = ["Causality", "Races"]

Races = Callable[[int], None]
"""Is told of each step that raced, by the past that its thread had when the step began; of the same one many times."""


_Steps = dict[Controlled, tuple[int, int]]
"""The last step of each thread, with the number of its access, by which others know of it."""


class _Thing:
    """What is known of one accessed thing: its last accesses that commute, and all that came before them.

    `keep` holds the object, so that its identity is not reused meanwhile. `steps` are those of the last accesses,
    `earlier` those of the group before; of what one thread did in turn, the last is enough: once that races, the search
    sees what comes before it as well. `clock` is what is known after the last accesses, `known` what was before them.
    `only` is the one thread that was here so far, None after a second one came; what it knew of others is not kept.
    """

    __slots__ = ("before", "clock", "earlier", "group", "keep", "known", "latest", "only", "steps")

    def __init__(self, keep: object, group: str, only: Controlled) -> None:
        self.keep = keep
        self.before = 0
        self.group = group
        self.latest = 0
        self.only: Controlled | None = only
        self.steps: _Steps = {}
        self.earlier: _Steps = {}
        self.clock: list[int] | None = None
        self.known: list[int] | None = None


class Causality:
    """Hashes the causal past of each thread of one execution, which stands in the thread's `past`.

    The step that a thread is in stands in its `step`, the past that it had when the step began. The scheduler sets it
    at each decision point, whether there is a choice or not, and where a wait ends: in executions that are the same up
    to steps that commute, a step is the same one.
    """

    def __init__(self, races: Races) -> None:
        self._races = races
        self._things: dict[tuple[int, str], _Thing] = {}
        self._threads: list[Controlled] = []
        self._all = 0

    def started(self, child: Controlled, parent: Controlled | None) -> None:
        """A thread begins with its parent's past; its number among the parent's children is part of that past."""
        past = (len(self._threads), "root") if parent is None else parent.past
        child.past = hash((past, "child"))
        self._all ^= child.past
        child.clock = [0] * len(self._threads) if parent is None else parent.clock.copy()
        self._threads.append(child)
        for thread in self._threads:
            thread.clock.append(0)
        if parent is not None:
            self._all ^= parent.past
            parent.past = hash((past, "parent"))
            self._all ^= parent.past

    def access(self, thread: Controlled, what: object, name: str, group: str) -> None:
        """A thread accesses a thing: an object, or one named part of it. Accesses of one group commute.

        Those of the group "" (writes) do not commute with each other either.
        """
        key = id(what), name
        thing = self._things.get(key)
        if thing is None:
            thing = self._things[key] = _Thing(what, group, thread)
        elif not group or group != thing.group:
            thing.before = hash((thing.before, thing.latest))
            thing.group, thing.latest = group, 0
            thing.earlier, thing.steps = thing.steps, {}
            thing.known, thing.clock = thing.clock, None
        clock = thread.clock
        number = clock[thread.number] = clock[thread.number] + 1
        if thing.only is not thread:
            self._meet(thread, thing)
        thing.steps[thread] = thread.step, number
        before = thread.past
        thread.past = past = hash((before, thing.before))
        thing.latest ^= past
        self._all ^= before ^ past

    def _meet(self, thread: Controlled, thing: _Thing) -> None:
        """A thread comes to where others were: it learns what they knew when they left."""
        thing.only = None
        clock = thread.clock
        for other, (step, number) in thing.earlier.items():
            if clock[other.number] < number:
                if other is not thread:
                    self._races(step)
                clock[other.number] = number
        if thing.known is not None:
            clock[: len(thing.known)] = map(max, clock, thing.known)
        reached = clock.copy()
        if thing.clock is not None:
            reached[: len(thing.clock)] = map(max, clock, thing.clock)
        thing.clock = reached

    def waits(self, thread: Controlled, what: object) -> None:
        """A thread finds that it has to wait: it would have gone on before the last accesses of what it waits for."""
        thing = self._things.get((id(what), ""))
        if thing is not None:
            for other, (step, number) in (*thing.steps.items(), *thing.earlier.items()):
                if other is not thread and thread.clock[other.number] < number:
                    self._races(step)

    def spares(self, by: Controlled | None) -> None:
        """A thread ends the wait of another, whose time-out could have fired before."""
        if by is not None:
            self._races(by.step)

    def signature(self, by: Controlled | None) -> int:
        """The signature of the state, with the thread that could go on without a preemption."""
        return hash((self._all, 0 if by is None else by.past))
