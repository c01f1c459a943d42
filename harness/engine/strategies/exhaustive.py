"""Every execution with at most so many preemptions, those with the fewest first.

Iterative context bounding (Musuvathi and Qadeer, PLDI 2007): most bugs need few preemptions, and the executions
with few of them are few. A preemption is a choice that stops a thread which could go on, or that lets a time-out
fire although somebody could go. Each execution follows a prefix of recorded choices and then the default order;
every alternative after the prefix becomes a prefix of its own.

The reduction is by state: a prefix that leads to a causal past (see `causality.py`) which an earlier one has
reached with no more preemptions is given up there. Unlike sleep sets, this keeps the bound sound (Musuvathi and
Qadeer, MSR-TR-2007-12): nothing is pruned in favour of an execution that the bound then leaves out (the trouble
that Coons, Musuvathi and McKinley, OOPSLA 2013, treat).

A second reduction leaves out preemptions that show nothing. Where a thread is stopped before a step, and nothing that
others do until it goes on conflicts with that step, it could as well take the step first and be stopped after it, with
no more preemptions. So a thread is stopped only before a step that *raced*: another thread's access was seen to
conflict with it, in some execution. Until then the prefix is held back. Why an execution that shows the race comes
wherever the prefix is needed: say the thread is stopped before its step e, and f is the first step of others that
conflicts with it. All before f commutes with e, so e can be taken first and the thread be stopped one point later,
and f comes as before, with no more preemptions. That schedule is explored, or one that is the same up to steps that
commute, by this argument itself, since its last preemption is later; and in it f is seen to conflict with e. Waiting
for what another has counts as an access here, and a time-out that did not fire in time for a wait as a conflict.

The search can be split into shares, each run by a process of its own. All of them run the same first executions, the
*common* ones, until enough prefixes wait; those are then dealt out in turn, by their place in the queue, and each share
goes on with its own. Why the shares together leave nothing out, within the bound:

- Call a state expanded when an execution has gone through it and each of its alternatives within the bound has become
  a prefix. A search is whole if every successor of an expanded state is expanded, with no more preemptions.
- A state that a common execution expanded: its alternatives either were run in common, or were dealt, each to one
  share, which runs it. The common executions and the order of the queue do not depend on the share, so all shares deal
  the same prefixes.
- A state that a share expanded: its alternatives are in the queue of that same share.
- A prefix that is run ends in a state which is expanded then, or is given up because the share itself has *expanded* an
  equal one since the prefixes were dealt. A state of another's, or of a common execution's, whose alternatives others
  have, is expanded once more: so a share sees every race that comes of the states that it expands.
- A prefix that a common execution held back is held by every share, and run by each that sees the race.

So nothing is pruned on another share's word, and "exhausted" may be said of the whole if every share says it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from harness.engine.causality import Races
from harness.engine.compiling import mypyc_attr
from harness.engine.strategies.scripted import default_choice, numbered, position, preempts
from harness.engine.threads import Controlled, State

__all__ = ["Exhaustive"]

DEALT = 32
"""Prefixes for each share, at least, before they are dealt: subtrees differ in size, and many of them even out."""

_Position = tuple[int, int]
_Prefix = tuple[tuple[int, int, int], ...]


@mypyc_attr(allow_interpreted_subclasses=True)
class Exhaustive:
    """All executions up to `bound` preemptions, or the share number `share` of `of` of them.

    `reduce` prunes by causal past, which must then be complete.
    """

    name = "exhaustive"

    def __init__(self, bound: int = 2, *, reduce: bool = True, share: int = 0, of: int = 1) -> None:
        assert bound >= 0, "a bound is a number of preemptions"
        self.bound = bound
        self.races: Races | None = self._raced if reduce else None
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
        self._whole = -1
        self._seen: dict[int, int] = {}
        self._racing: set[int] = set()
        self._held: dict[int, list[tuple[int, _Prefix]]] = {}

    @property
    def whole_to(self) -> int:
        """Prefixes with fewer preemptions come first: all below the lowest level were run.

        A race that only more preemptions show may bring back one with fewer; with so few alone nothing needs it.
        """
        lowest = next((cost for cost, level in enumerate(self._levels) if level), self.bound + 1)
        return max(self._whole, lowest - 1)

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left within the bound."""
        return self.whole_to == self.bound

    def begin(self, execution: int) -> bool:
        """Take the next prefix; False when none is left, and the space within the bound is exhausted."""
        del execution
        for cost, level in enumerate(self._levels):
            if level:
                self._whole = max(self._whole, cost - 1)
                self._cost = cost
                self._last = 0
                self._prefix = level.popleft()
                self._wanted = {(by, step): chosen for by, step, chosen in self._prefix}
                return True
        return False

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled | None:
        """Follow the prefix, then the default; give up where the past has been reached before."""
        here = position(by, ready, timer)
        stopped = by if by is not None and by.state is State.READY else None
        chosen = default_choice(by, ready, timer)
        if self._wanted:
            wanted = self._wanted.pop(here, chosen.number)
            found = numbered(wanted, ready, timer)
            assert found is not None, "the choice was recorded in an execution that was the same so far"
            return found
        if self.races is not None:
            causality = chosen.kernel.causality
            assert causality is not None, "a strategy that is told of races gets it"
            signature = causality.signature(stopped)
            if signature == self._last:
                return chosen  # nothing was accessed since the last point: its alternatives are these
            self._last = signature
            if self._seen.get(signature, self.bound + 1) <= self._cost:
                self.pruned += 1
                return None
            self._seen[signature] = self._cost
        for other in (*ready, *(() if timer is None else (timer,))):
            if other is not chosen:
                self._add(stopped, self._cost + preempts(by, ready, other), (*here, other.number))
        return chosen

    def _add(self, stopped: Controlled | None, cost: int, choice: tuple[int, int, int]) -> None:
        """Keep an alternative within the bound; one that stops a thread before its step waits until that raced."""
        if cost > self.bound:
            return
        prefix = (*self._prefix, choice)
        if self.races is None or stopped is None or stopped.step in self._racing:
            self._levels[cost].append(prefix)
        else:
            self._held.setdefault(stopped.step, []).append((cost, prefix))

    def _raced(self, step: int) -> None:
        """A step raced: stop its thread before it, wherever that was held back."""
        if step not in self._racing:
            self._racing.add(step)
            for cost, prefix in self._held.pop(step, ()):
                self._levels[cost].append(prefix)

    def end(self, points: int) -> None:
        """Deal the prefixes that wait, once there are enough of them."""
        del points
        if self.common and sum(map(len, self._levels)) >= DEALT * self._of:
            self.common = False
            self._deal()

    def _deal(self) -> None:
        """Keep every prefix whose turn is this share's; the turns go on from one level to the next."""
        self._seen.clear()
        turn = 0
        for cost, level in enumerate(self._levels):
            self._levels[cost] = deque(
                prefix for place, prefix in enumerate(level, turn) if place % self._of == self._share
            )
            turn += len(level)
