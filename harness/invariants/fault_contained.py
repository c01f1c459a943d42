"""fault-contained: a fault harms only its scope.

The neighbours of a fault are the tasks that no fault struck. With scope `request` every one of them must come out as if
nothing had happened, with scope `context` those that had nothing to do with the session. A service may rebuild what it
likes meanwhile: what counts is how the neighbours end.

A harmed neighbour is one that fails, is cancelled unasked, gets what is not its own, or never ends, and for which
nothing but the fault explains that. What explains it: a failed step of its own run, a run budget, a session that did
not open or close, a close of the service under way, a cancel, a fault of scope `device` or `process`; and for a task
that never ran, a second of virtual time: the service may give up what waits so long.

Another process is a neighbour too, whatever the scope: see `fault_contained_elsewhere`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.history import Event
from harness.invariants.fault_contained_elsewhere import judge_elsewhere
from harness.invariants.index import INJECTED, Index, Run, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "fault-contained"
_RIGHT = ("match", "indistinguishable", "shared:", INJECTED)
_JUDGED = frozenset({"request", "context"})
_PATIENCE_NS = 1_000_000_000
_STEPS = frozenset({"bind", "invoke", "fetch"})
MOST_TRIES = 100
"""No client waits for a hundredth try of somebody else's run, which no bound of a sensible service allows."""


def check(index: Index) -> Judgement:
    """Premise: a fault struck, and a task that none struck, or where all tasks may be harmed a process, was seen."""
    faults = [event for event in index.of("fault-injected") if "scope" in event.attrs]
    if not faults:
        return NOT_OCCURRED
    within, elsewhere = _within(index, faults), judge_elsewhere(index, faults, _ID)
    beyond = any(event.attrs["scope"] not in _JUDGED for event in faults)
    return Judgement(
        # Looks at a process do not stand in for tasks that a scenario meant to have beside the one that is struck.
        within.checked + (elsewhere.checked if beyond or within.checked else len(elsewhere.violations)),
        within.violations + elsewhere.violations,
        within.unknown or elsewhere.unknown,
    )


def _within(index: Index, faults: list[Event]) -> Judgement:
    """Judge the other tasks."""
    if any(event.task is None and event.attrs["point"] in _STEPS and not event.attrs.get("again") for event in faults):
        return Judgement(0, (), "a fault struck a run on an input that nobody submitted: whose it was is not known")
    if any(event.attrs["scope"] not in _JUDGED for event in faults):
        return NOT_OCCURRED  # everything in the process may be harmed
    scene = _Scene(index, faults)
    neighbours = [task for task in index.tasks.values() if scene.is_neighbour(task)]
    violations = [violation for task in neighbours if (violation := scene.harmed(task))]
    violations.extend(scene.kept_waiting())
    return Judgement(len(neighbours) or len(violations), tuple(violations))


@dataclass(frozen=True, slots=True)
class _Scene:
    """One history, seen from its faults: at least one, all of a scope that leaves neighbours."""

    index: Index
    faults: list[Event]

    def is_neighbour(self, task: Task) -> bool:
        """Whether a fault could have harmed the task, and none struck it or whom it shares a run with."""
        end = task.delivers[0] if task.delivers else task.pending
        if not task.accepted or task.malformed or end is None or end.seq < self.faults[0].seq:
            return False
        struck = {event.task for event in self.faults if event.task is not None}
        keys = {self.index.tasks[name].key for name in struck if name in self.index.tasks} - {None}
        return task.id not in struck and task.key not in keys

    def harmed(self, task: Task) -> Violation | None:
        """What became of the neighbour, if nothing but a fault explains it."""
        if not task.delivers:
            return self._violation(task, task.pending, "never ended") if self.index.quiescent else None
        end = task.delivers[0]
        if task.outcome == "SUCCEEDED":
            wrong = not str(end.attrs["output"]).startswith(_RIGHT) and not task.input_ambiguous
            return self._violation(task, end, "was given what is not its own") if wrong else None
        if task.outcome == "FAILED" and self._fails_of_a_fault(task, end):
            return self._violation(task, end, "failed")
        if task.outcome == "CANCELLED" and not task.cancels and self._never_ran_of_a_fault(task, end):
            return self._violation(task, end, "was cancelled")
        return None

    def kept_waiting(self) -> Iterator[Violation]:
        """Who waits while a run that fails is tried again and again, though the execution has not come to rest."""
        for name in dict.fromkeys(event.task for event in self.faults if event.attrs["scope"] == "request"):
            struck = self.index.tasks.get(name or "")
            if struck is None or len(struck.runs) < MOST_TRIES:
                continue
            last = struck.runs[MOST_TRIES - 1].first
            for task in self.index.tasks.values():
                if _waited(task, struck.runs[0].last, last):
                    message = f"{struck.id}, which a fault struck, was tried {MOST_TRIES} times while {task.id} waited"
                    yield Violation(_ID, message, (struck.runs[0].first.seq, last.seq))

    def _fails_of_a_fault(self, task: Task, end: Event) -> bool:
        if self.index.service("run_budget_ms") is not None:
            return False
        if not task.runs:
            return self._never_ran_of_a_fault(task, end)
        last = task.runs[-1]
        if last.last.kind == "fetch-end":
            return last.last.attrs["answer"] == "ok"
        return last.last.attrs.get("answer") != "error" and self._elsewhere(last)

    def _never_ran_of_a_fault(self, task: Task, end: Event) -> bool:
        """A task that waits is of no session yet: only a fault of a request leaves it alone for sure."""
        index = self.index
        if task.runs or any(run.stray for run in index.runs):
            return False
        closing = any(call.begin.seq < end.seq for call in index.closes)
        patient = end.at_ns - task.submit.begin.at_ns < _PATIENCE_NS
        calls = (*index.opens, *(call for session in index.sessions.values() for call in session.closes))
        broken = any(call.answered("error") for call in calls)
        return (
            patient and not closing and not broken and all(event.attrs["scope"] == "request" for event in self.faults)
        )

    def _elsewhere(self, run: Run) -> bool:
        return all(event.session != run.first.session for event in self.faults)

    def _violation(self, task: Task, end: Event | None, what: str) -> Violation:
        before = [event for event in self.faults if end is None or event.seq < end.seq]
        fault = before[-1] if before else self.faults[0]
        whom = fault.task or fault.session
        message = f"{fault.attrs['fault']} struck {whom}, with scope {fault.attrs['scope']}, and {task.id} {what}"
        return Violation(_ID, message, (fault.seq,) if end is None else (fault.seq, end.seq))


def _waited(task: Task, since: Event, until: Event) -> bool:
    """Whether an accepted task did so in between: it neither began to run nor ended, and nobody cancelled it."""
    end = task.submit.end
    if not task.accepted or end is None or end.seq > since.seq:
        return False
    moved = (*(run.first for run in task.runs), *task.delivers, *(call.begin for call in task.cancels))
    return all(event.seq > until.seq for event in moved)


INVARIANT = Invariant(
    id=_ID, statement="A fault harms only its scope: request, context, process or device.", check=check
)
