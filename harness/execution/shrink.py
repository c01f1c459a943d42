"""Shrink a failing execution: fewer steps of the scenario, then fewer preemptions and switches, the same thing wrong.

First the script: whole actors, then submits, then other steps are left out. Then the schedule: the choices that matter
are found by halving (QuickXplain, Junker, AAAI 2004: k of n choices take about k log n executions), stretches of one
thread's work are moved together (Jalbert and Sen, FSE 2010), and a failing schedule with fewer preemptions is searched
for, those with the fewest first (Musuvathi and Qadeer, PLDI 2007). Each candidate is executed and its own choices are
taken on, so the result is always an execution that really was.

What is left is legal: every service must stand a client that asks for less. What the script expects was written for
the whole of it, and is not judged when steps are left out. A wait for a task that was submitted is not left out: it is
how the wrong answer is seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from harness.engine.scheduler import QUIET_UNTIL_REST
from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.strategies.pct import Pct
from harness.engine.strategies.pos import PartialOrderSampling
from harness.engine.strategies.replay import Replay
from harness.engine.strategies.scripted import position, preempts
from harness.engine.strategies.segments import Segment, Segments, segments_of
from harness.engine.strategies.strategy import Strategy
from harness.engine.threads import Controlled, State
from harness.execution.controlled import Execution, Laboratory
from harness.execution.run_state import Step
from harness.history import Event
from harness.invariants.catalogue import check_all
from harness.schedule import Schedule

__all__ = ["MOST_EXECUTIONS", "Shrunk", "Size", "shrink"]

MOST_EXECUTIONS = 500
"""Executions that one failure may take to be shrunk."""
REST_SOON = 5_000
"""Quiet steps after which a candidate counts as running for ever where the failing execution was long quiet, too.

Its threads take ten times as many before that is said of them; so does what is handed out in the end.
"""
FEW, SOME, MANY = 16, 40, 80
"""How many executions at most look for the failure without one actor, by PCT and by sampling each, and with fewer
preemptions: each way of PCT's, and those with the fewest first."""
READABLE = 2
"""Of a failure with more preemptions, one that does more harm is taken as well, if it is smaller: two runs at once on a
session that mix up their outputs, in place of two that by good luck do not."""
FOLLOWED = 1
"""So many preemptions can be followed by eye: of a failure with more, PCT may well find one with far fewer."""
_KINDS = ("actor", "submit", "close", "cancel", "overwrite", "recheck", "on-done", "arm", "sleep")
"""What may be left out, in this order: an actor takes its own steps with it."""

_Choice = tuple[int, int, int]


class Size(NamedTuple):
    """What is made small, the first before the second. `switches` are changes of thread between observed events."""

    steps: int
    preemptions: int
    switches: int
    choices: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """The smallest failing execution that was found, its size, and how many executions that took."""

    execution: Execution
    size: Size
    tried: int


def shrink(laboratory: Laboratory, schedule: Schedule, failing: Execution, invariant: str) -> Shrunk:
    """Return the smallest execution found that breaks `invariant` as `failing` does, which `schedule` repeats."""
    return _Shrinker(laboratory, schedule, failing, invariant).shrink()


class _Shrinker:
    """The best so far, and what is left of the budget."""

    def __init__(self, laboratory: Laboratory, schedule: Schedule, failing: Execution, invariant: str) -> None:
        self._laboratory = laboratory
        self._schedule = schedule
        self._failing = failing
        self._invariant = invariant
        wrong = _wrongs(failing)
        self._broken = wrong.keys()
        self._wrong = wrong[invariant][0]
        self._findings = {finding.kind for finding in failing.findings}
        self._tried = 0
        self._rest_after = REST_SOON if failing.was_fair else QUIET_UNTIL_REST
        self._known: dict[tuple[object, ...], bool] = {}
        self._best = failing
        self._lenient = False
        self._stops: Sequence[tuple[int, int]] = ()
        self._size = self._size_of(failing)

    def shrink(self) -> Shrunk:
        self._reduce()
        if self._size.preemptions > READABLE:
            self._lenient = True
            self._known.clear()
            self._reduce()
        return self._confirmed()

    def _reduce(self) -> None:
        size = None
        while size != self._size:
            while size != self._size:
                size = self._size
                if self._best.choices:
                    self._relevant((), self._best.choices, known=False)
                for kind in _KINDS:
                    self._leave_out(kind)
                self._rearrange(preempted=True)
                self._rearrange(preempted=False)
            self._with_fewer_actors()
            self._with_fewer_preemptions()

    def _leave_out(self, kind: str) -> None:
        """Leave out as many steps of a kind as can be: half of them at once, then ever fewer, at last one by one."""
        chunk = max(1, len(self._made(kind)) // 2)
        while chunk:
            start = 0
            while steps := self._made(kind)[start : start + chunk]:
                left_out = {*self._best.left_out, *((step.actor, step.number) for step in steps)}
                before = self._size
                self._replay(self._best.choices, left_out)
                start += chunk if self._size == before else 0
            chunk //= 2

    def _made(self, kind: str) -> Sequence[Step]:
        """The steps of a kind, the last ones first: what was set up early is needed by what comes later."""
        return [step for step in reversed(self._best.made) if step.kind == kind]

    def _relevant(
        self, fixed: tuple[_Choice, ...], choices: tuple[_Choice, ...], *, known: bool
    ) -> tuple[_Choice, ...]:
        """Of `choices` those that it takes, beside the `fixed` ones, to fail. `known`: the fixed ones are not enough.

        A failure need not stay one when a choice is added, so this may be more than it takes, or not fail at all: what
        counts is the smallest candidate that was seen on the way.
        """
        if not known and self._replay(fixed, self._best.left_out):
            return ()
        if len(choices) <= 1:
            return choices
        half = len(choices) // 2
        early, late = choices[:half], choices[half:]
        of_late = self._relevant((*fixed, *early), late, known=False)
        return (*self._relevant((*fixed, *of_late), early, known=not of_late), *of_late)

    def _with_fewer_actors(self) -> None:
        """Look for the failure without one of the actors: what the schedule does may hang on all of them."""
        for step in self._made("actor"):
            left_out = {*self._best.left_out, (step.actor, step.number)}
            if any(self._search(each, left_out, FEW) for each in (Pct(0, depth=2), PartialOrderSampling(0))):
                return

    def _with_fewer_preemptions(self) -> None:
        """Search among schedules with fewer preemptions than the best has."""
        if self._size.preemptions > FOLLOWED and any(
            self._search(Pct(0, depth), self._best.left_out, SOME) for depth in (1, 2, 3)
        ):
            return
        if self._size.preemptions:
            self._search(Exhaustive(self._size.preemptions - 1, reduce=False), self._best.left_out, MANY)

    def _search(self, strategy: Strategy, left_out: Iterable[tuple[int, int]], most: int) -> bool:
        """Try so many executions of a strategy, until one fails the same way and is smaller."""
        before = self._size
        for number in range(most):
            if self._try(strategy, left_out, number) is None or self._size != before:
                break
        return self._size != before

    def _rearrange(self, *, preempted: bool) -> None:
        """Move stretches of work together, from the last to the first: only the `preempted` ones, or all of them."""
        place = len(self._segments()) - 1
        while place >= 0:
            segments = self._segments()[: place + 1], self._segments()[place + 1 :]
            place = len(segments[0]) - 1
            skip = preempted and segments[0][place].until < 0
            if skip or not any(self._is_smaller(moved) for moved in _moves(*segments)):
                place -= 1

    def _segments(self) -> tuple[Segment, ...]:
        return segments_of(self._best.decisions, set(self._stops))

    def _is_smaller(self, segments: tuple[Segment, ...]) -> bool:
        before = self._size
        if self._new(segments, self._best.left_out):
            self._try(Segments(segments), self._best.left_out)
        return self._size != before

    def _replay(self, choices: Iterable[_Choice], left_out: Iterable[tuple[int, int]]) -> bool:
        chosen, gone = tuple(choices), tuple(sorted(left_out))
        if self._new(chosen, gone):
            schedule = Schedule(self._schedule.cell, self._schedule.code, chosen)
            self._known[chosen, gone] = bool(self._try(Replay(schedule), gone))
        return self._known[chosen, gone]

    def _new(self, candidate: tuple[object, ...], left_out: tuple[tuple[int, int], ...]) -> bool:
        """Whether a candidate is tried for the first time: it would come out as before."""
        if (candidate, left_out) in self._known:
            return False
        self._known[candidate, left_out] = False
        return True

    def _try(self, strategy: Strategy, left_out: Iterable[tuple[int, int]], number: int = 0) -> bool | None:
        """Run a candidate, say whether it fails the same way, and if it is smaller than the best, take it.

        None when the budget or the strategy has come to its end.
        """
        if self._tried >= MOST_EXECUTIONS - 1:  # one is for the confirmation
            return None
        counting = _Counting(strategy)
        candidate = self._laboratory.execute(counting, number, leave_out=left_out, rest_after=self._rest_after)
        if candidate is None:
            return None
        self._tried += 1
        if not self._same(candidate):
            return False
        size = _size(candidate, counting.preemptions)
        if size < self._size:
            self._best, self._size, self._stops = candidate, size, counting.stops
        return True

    def _same(self, candidate: Execution) -> bool:
        """Whether the same thing is wrong with the candidate, and, unless lenient, nothing besides."""
        if not candidate.clean or candidate.pruned:
            return False
        if not self._findings.issuperset(finding.kind for finding in candidate.findings):
            return False
        wrong = _wrongs(candidate)
        return self._wrong in wrong.get(self._invariant, ()) and (self._lenient or self._broken >= wrong.keys())

    def _size_of(self, execution: Execution) -> Size:
        """The size of an execution whose preemptions nobody has counted: repeat it."""
        counting = _Counting(Replay(self._schedule))
        self._laboratory.execute(counting, 0, leave_out=self._schedule.left_out)
        self._tried += 1
        self._stops = counting.stops
        return _size(execution, counting.preemptions)

    def _confirmed(self) -> Shrunk:
        """The best if a replay repeats it, else what was to be shrunk, which a replay has repeated already."""
        best = self._best
        if best is not self._failing:
            schedule = Schedule(self._schedule.cell, self._schedule.code, best.choices, best.left_out)
            if best.was_fair:
                best = self._laboratory.replay(schedule)  # it was given up soon
            again = self._laboratory.replay(schedule)
            self._tried += 1
            if again.history.digest() != best.history.digest() or not self._same(again):
                return Shrunk(execution=self._failing, size=self._size_of(self._failing), tried=self._tried)
        return Shrunk(execution=best, size=self._size, tried=self._tried)


def _moves(done: tuple[Segment, ...], after: tuple[Segment, ...]) -> Iterator[tuple[Segment, ...]]:
    """Ways to have fewer switches: the last thread of `done` goes on, or what it does after a pause is put beside it.

    As in Jalbert and Sen, "A Trace Simplification Technique for Effective Debugging of Concurrent Programs", FSE 2010.
    """
    *before, (thread, until) = done
    if until >= 0:
        yield (*before, Segment(thread, -1), *after)
    resumed = next((number for number, segment in enumerate(after) if segment.thread == thread), 0)
    if resumed:
        yield (*before, *after)
        yield (*before, after[resumed], *after[:resumed], *after[resumed + 1 :])


class _Counting:
    """A strategy that counts the preemptions of another one's choices. Used for one execution.

    `stops` are the decisions where the thread at the point could not go on, by thread and step: a switch costs nothing.
    """

    def __init__(self, strategy: Strategy) -> None:
        self.races = strategy.races
        self.begin, self.end = strategy.begin, strategy.end
        self._strategy = strategy
        self.preemptions = 0
        self.stops: list[tuple[int, int]] = []

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled | None:
        chosen = self._strategy.choose(by, ready, timer)
        if chosen is not None:
            self.preemptions += preempts(by, ready, chosen)
            if by is None or by.state is not State.READY:
                self.stops.append(position(by, ready, timer))
        return chosen


def _size(execution: Execution, preemptions: int) -> Size:
    events = execution.history.events
    switches = sum(one.thread != other.thread for one, other in pairwise(events))
    return Size(len(execution.made), preemptions, switches, len(execution.choices))


def _wrongs(execution: Execution) -> dict[str, list[str]]:
    """What is wrong, by invariant, without the names of what it is wrong with: with other tasks it is the same."""
    events = execution.history.events
    names = {name for event in events for name in _names(event)}
    return {
        invariant: [_anonymous(violation.message, names) for violation in judgement.violations]
        for invariant, judgement in check_all(execution.history).items()
        if judgement.violations
    }


def _names(event: Event) -> Iterable[str]:
    return (name for name in (event.thread, event.task, event.session, event.slot) if name)


def _anonymous(message: str, names: set[str]) -> str:
    """Put one mark for each name or number, and for each list of them."""
    marked = re.sub(r"[\w-]+", lambda word: "#" if word[0] in names or re.search(r"\d", word[0]) else word[0], message)
    return re.sub(r"#(?:(?:, | and |, and )#)+", "#", marked)
