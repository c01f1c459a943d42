"""Every execution with at most so many preemptions, those with the fewest first.

Iterative context bounding (Musuvathi and Qadeer, PLDI 2007): most bugs need few preemptions, and the executions
with few of them are few. A preemption is a choice that stops a thread which could go on, or that lets a time-out
fire although somebody could go. Each execution follows a prefix of recorded choices and then the default order;
every alternative after the prefix becomes a prefix of its own.

The reduction is by state: a prefix that leads to a causal past (see `causality.py`) which an earlier one has
reached with no more preemptions is given up there. Unlike sleep sets, this keeps the bound sound (Musuvathi and
Qadeer, MSR-TR-2007-12): nothing is pruned in favour of an execution that the bound then leaves out (the trouble
that Coons, Musuvathi and McKinley, OOPSLA 2013, treat).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from harness.engine.strategies.scripted import default_choice, position
from harness.engine.threads import Controlled, State

__all__ = ["Exhaustive"]

_Position = tuple[int, int]
_Prefix = tuple[tuple[int, int, int], ...]


class Exhaustive:
    """All executions up to `bound` preemptions. `reduce` prunes by causal past, which must then be complete."""

    name = "exhaustive"

    def __init__(self, bound: int = 2, *, reduce: bool = True) -> None:
        assert bound >= 0, "a bound is a number of preemptions"
        self.bound = bound
        self.tracks_causality = reduce
        self._levels: list[deque[_Prefix]] = [deque() for _ in range(bound + 1)]
        self._levels[0].append(())
        self._seen: dict[int, int] = {}
        self._prefix: _Prefix = ()
        self._wanted: dict[_Position, int] = {}
        self._cost = 0
        self._last = 0
        self.pruned = 0
        self.exhausted = False

    def begin(self, execution: int) -> bool:
        """Take the next prefix; False when none is left, and the space within the bound is exhausted."""
        del execution
        for cost, level in enumerate(self._levels):
            if level:
                self._cost = cost
                self._last = 0
                self._prefix = level.popleft()
                self._wanted = {(by, step): chosen for by, step, chosen in self._prefix}
                return True
        self.exhausted = True
        return False

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled | None:
        """Follow the prefix, then the default; give up where the past has been reached before."""
        here = position(by, ready, timer)
        if self._wanted:
            wanted = self._wanted.pop(here, None)
            return default_choice(by, ready, timer) if wanted is None else _numbered(wanted, ready, timer)
        chosen = default_choice(by, ready, timer)
        if self.tracks_causality:
            signature = _signature(by, chosen)
            if signature == self._last:
                return chosen  # nothing was accessed since the last point: its alternatives are these
            self._last = signature
            if self._seen.get(signature, self.bound + 1) <= self._cost:
                self.pruned += 1
                return None
            self._seen[signature] = self._cost
        for other in (*ready, *(() if timer is None else (timer,))):
            if other is not chosen:
                self._add(here, other, preempts=_preempts(by, ready, other))
        return chosen

    def _add(self, here: _Position, other: Controlled, *, preempts: bool) -> None:
        cost = self._cost + preempts
        if cost <= self.bound:
            self._levels[cost].append((*self._prefix, (*here, other.number)))

    def end(self, points: int) -> None:
        """Nothing to learn."""


def _signature(by: Controlled | None, any_thread: Controlled) -> int:
    causality = any_thread.kernel.causality
    assert causality is not None, "a strategy that tracks causality gets it"
    return causality.signature(by if by is not None and by.state is State.READY else None)


def _preempts(by: Controlled | None, ready: Sequence[Controlled], other: Controlled) -> bool:
    return (by is not None and by.state is State.READY) or (bool(ready) and other not in ready)


def _numbered(number: int, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
    for candidate in ready:
        if candidate.number == number:
            return candidate
    assert timer is not None, "the prefix was recorded in an execution that was the same so far"
    assert timer.number == number, "the prefix was recorded in an execution that was the same so far"
    return timer
