"""Every execution with at most so many preemptions, those with the fewest first.

Iterative context bounding (Musuvathi and Qadeer, PLDI 2007): most bugs need few preemptions, and the executions
with few of them are few. A preemption is a choice that stops a thread which could go on, or that lets a time-out
fire although somebody could go. Each execution follows a prefix of recorded choices and then the default order;
every alternative after the prefix becomes a prefix of its own.

The reduction is by state: a prefix that leads to a causal past (see `causality.py`) which an earlier one has
reached with no more preemptions is given up there. Unlike sleep sets, this keeps the bound sound (Musuvathi and
Qadeer, MSR-TR-2007-12): nothing is pruned in favour of an execution that the bound then leaves out (the trouble
that Coons, Musuvathi and McKinley, OOPSLA 2013, treat).

The search can be split into shares, each run by a process of its own. All of them run the same first executions, the
*common* ones, until enough prefixes wait; those are then dealt out in turn, by their place in the queue, and each share
goes on with its own. Why the shares together leave nothing out, within the bound:

- Call a state expanded when an execution has gone through it and each of its alternatives within the bound has become
  a prefix. A search is whole if every successor of an expanded state is expanded, with no more preemptions.
- A state that a common execution expanded: its alternatives either were run in common, or were dealt, each to one
  share, which runs it. The common executions and the order of the queue do not depend on the share, so all shares deal
  the same prefixes.
- A state that a share expanded: its alternatives are in the queue of that same share.
- A prefix that is run ends in a state which is expanded then, or is given up because the share has *expanded* an equal
  one: `_seen` holds the states of its own executions and of the common ones, never one that only waits in a queue. A
  state of another share's is not in it, and is expanded once more: shares may do some work twice, and prune less.

So nothing is pruned on another share's word, and "exhausted" may be said of the whole if every share says it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from harness.engine.strategies.scripted import default_choice, numbered, position, preempts
from harness.engine.threads import Controlled, State

__all__ = ["Exhaustive"]

DEALT = 32
"""Prefixes for each share, at least, before they are dealt: subtrees differ in size, and many of them even out."""

_Position = tuple[int, int]
_Prefix = tuple[tuple[int, int, int], ...]


class Exhaustive:
    """All executions up to `bound` preemptions, or the share number `share` of `of` of them.

    `reduce` prunes by causal past, which must then be complete.
    """

    name = "exhaustive"

    def __init__(self, bound: int = 2, *, reduce: bool = True, share: int = 0, of: int = 1) -> None:
        assert bound >= 0, "a bound is a number of preemptions"
        self.bound = bound
        self.tracks_causality = reduce
        self._share = share
        self._of = of
        self._prefix: _Prefix = ()
        self._wanted: dict[_Position, int] = {}
        self._cost = 0
        self._last = 0
        self.pruned = 0
        self.start_over()

    def start_over(self) -> None:
        """Forget what was explored: begin with the default order again."""
        self.common = self._of > 1
        self._levels: list[deque[_Prefix]] = [deque() for _ in range(self.bound + 1)]
        self._levels[0].append(())
        self._seen: dict[int, int] = {}

    @property
    def whole_to(self) -> int:
        """Prefixes with fewer preemptions come first, and none adds one with fewer: the lowest level is the next."""
        return next((cost for cost, level in enumerate(self._levels) if level), self.bound + 1) - 1

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left within the bound."""
        return self.whole_to == self.bound

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
        return False

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled | None:
        """Follow the prefix, then the default; give up where the past has been reached before."""
        here = position(by, ready, timer)
        if self._wanted:
            wanted = self._wanted.pop(here, None)
            if wanted is None:
                return default_choice(by, ready, timer)
            chosen = numbered(wanted, ready, timer)
            assert chosen is not None, "the choice was recorded in an execution that was the same so far"
            return chosen
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
                self._add(here, other, preempts=preempts(by, ready, other))
        return chosen

    def _add(self, here: _Position, other: Controlled, *, preempts: bool) -> None:
        cost = self._cost + preempts
        if cost <= self.bound:
            self._levels[cost].append((*self._prefix, (*here, other.number)))

    def end(self, points: int) -> None:
        """Deal the prefixes that wait, once there are enough of them."""
        del points
        if self.common and sum(map(len, self._levels)) >= DEALT * self._of:
            self.common = False
            self._deal()

    def _deal(self) -> None:
        """Keep every prefix whose turn is this share's; the turns go on from one level to the next."""
        turn = 0
        for cost, level in enumerate(self._levels):
            self._levels[cost] = deque(
                prefix for place, prefix in enumerate(level, turn) if place % self._of == self._share
            )
            turn += len(level)


def _signature(by: Controlled | None, any_thread: Controlled) -> int:
    causality = any_thread.kernel.causality
    assert causality is not None, "a strategy that tracks causality gets it"
    return causality.signature(by if by is not None and by.state is State.READY else None)
