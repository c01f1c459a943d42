"""The neighbour process of a target: a client of the same device, asked how it is while faults strike in a worker.

It is the supervisor's child, not the worker's: so it is there to be asked when the worker has died, and it dies with
the supervisor. A worker asks through the supervisor, which bounds every wait.
"""

from __future__ import annotations

import threading  # noqa: TID251 - the workers of one target ask from a thread each
from time import monotonic  # noqa: TID251 - what another process takes is real time
from typing import TYPE_CHECKING

from harness.observe.neighbour import RIGHT, Look, Moment, is_harmed
from harness.supervisor.blank import reason_of
from harness.supervisor.process import Worker
from harness.supervisor.staff import Refusal, Staff, send_model
from harness.worker.protocol import ErrorReport, NeighbourParams, NeighbourReady

if TYPE_CHECKING:
    from adapters.base import ModelFile
    from harness.oracle.expectations import Expectations
    from harness.suite.plan import Cell
    from harness.worker.protocol import ScenarioRecord

__all__ = ["NO_DEVICE", "REQUESTS", "NeighbourProcess", "is_watched", "neighbour_params"]

NO_DEVICE = "numpy"
"""The adapter without a runtime: there is nothing that two processes could share."""

HELD_S = 2.0
"""An answer that takes longer while a call is held is not waited for: a device may take one request at a time."""
MOST_HELD_S = 20.0
"""A call that hangs inside native code gives up after a minute."""
PATIENCE_S = 5.0
"""After so long without an answer another process is asked, too."""
SECOND_S = 15.0
"""How long that one may take to open a session, and again to answer."""
PROVEN_S = 1.0
"""What is waited for once a second process had no answer either, until somebody answers again."""
SLOWER = 10
"""To each of these is added so many times what opening and answering took before any fault: a model may be slow."""
LAST_S = 0.2
"""For the answer that came meanwhile to be read."""
REQUESTS = 2
"""Requests that a neighbour makes: a session that gives what it gave before gives the wrong answer."""


class NeighbourProcess:
    """At most one living process, started when it is needed, and kept. Used from any thread; `close` must be called."""

    def __init__(self, staff: Staff, model: ModelFile) -> None:
        self._staff = staff
        self._model = model
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._params: NeighbourParams | None = None
        self._asked = False
        self._proven = False
        self._held_up = False
        self._opens_s = self._answers_s = 0.0

    def ready(self, expectations: Expectations) -> str:
        """Have a process that answers rightly while nobody harms it. Empty, or in one line why there is none."""
        with self._lock:
            params = neighbour_params(self._staff, expectations)
            if params is None:
                return "the oracle has too few answers for it"
            if params != self._params or self._asked:
                self._dismiss()
            self._params = params
            self._proven = self._held_up = False
            # The one that is kept may have ended since.
            return "" if self._worker is not None and not self._problem() else self._problem()

    def look(self, moment: Moment) -> Look:
        """Ask how it is: see `harness.observe.neighbour`. Takes milliseconds, or at most half a minute."""
        with self._lock:
            return self._look(moment)

    def _problem(self) -> str:
        """Why it is not ready: not started, or not answered as it must be; empty where it is."""
        limit = self._staff.hang_after_s
        begun = monotonic()
        started = self._worker or self._start(limit)
        if not isinstance(started, Worker):
            return f"it did not open in {limit:g} s" if started is None else reason_of(started)
        self._worker = started
        opened = monotonic()
        look = self._collected(self._ask(started), limit)
        if isinstance(look, Look) and not is_harmed(look):
            self._opens_s = max(self._opens_s, opened - begun)
            self._answers_s = max(self._answers_s, monotonic() - opened)
            return ""
        self._dismiss()
        return "it is not answered rightly before any fault has struck"

    def close(self) -> None:
        """Stop the process."""
        with self._lock:
            self._dismiss()

    def _look(self, moment: Moment) -> Look:
        worker = self._worker or self._start(PROVEN_S if self._proven else SECOND_S)
        if not isinstance(worker, Worker):
            return Look("silent" if worker is None else "died")
        self._worker = worker
        waited = self._asked
        found = self._collected(self._ask(worker), self._patience(moment))
        if isinstance(found, Look):
            self._proven = False
            return _both(found, self._look(moment)) if waited else found
        if found is None and moment == "held":
            self._held_up = True
            return Look("waits")
        return self._second(worker, found)

    def _patience(self, moment: Moment) -> float:
        if moment == "held":
            return PROVEN_S / 5 if self._held_up else min(HELD_S + SLOWER * self._answers_s, MOST_HELD_S)
        return (PROVEN_S if self._proven else PATIENCE_S) + SLOWER * self._answers_s

    def _second(self, first: Worker, answer: Refusal | None) -> Look:
        """No answer: ask another process, with more time, before anybody is blamed. Both are given up."""
        worst = Look("silent" if answer is None else "died")
        self._worker = None
        try:
            if self._proven:
                return worst
            found = self._from_another()
            late = None if answer is not None else self._collected(first, LAST_S)
        finally:
            self._asked = False
            self._end(first)
        if isinstance(late, Look):
            return Look("late")
        if isinstance(found, Look):
            return Look("lost") if RIGHT.issuperset(found.answers) else found
        self._proven = not isinstance(found, ErrorReport)
        return worst if self._proven else Look("lost")

    def _from_another(self) -> Look | Refusal | None:
        second = self._start(SECOND_S)
        if not isinstance(second, Worker):
            return second
        try:
            return self._collected(self._ask(second), SECOND_S + SLOWER * self._answers_s)
        finally:
            self._end(second)

    def _ask(self, worker: Worker) -> Worker:
        """Ask for a look, unless an earlier one has no answer yet."""
        if worker is not self._worker or not self._asked:
            worker.post("look", {})
        self._asked |= worker is self._worker
        return worker

    def _collected(self, worker: Worker, seconds: float) -> Look | Refusal | None:
        found = worker.collect(Look, seconds)
        if found is not None and worker is self._worker:
            self._asked = False
        return found

    def _start(self, seconds: float) -> Worker | Refusal | None:
        """Start a process and open its session. None where that is not done in time."""
        assert self._params is not None, "a neighbour is made ready before it is looked at"
        worker = self._staff.start("oracle")
        if not isinstance(worker, Worker):
            return worker
        refusal = send_model(worker, self._model)
        if refusal is None:
            worker.post("neighbour", self._params)
            ready = worker.collect(NeighbourReady, seconds + SLOWER * self._opens_s)
            if isinstance(ready, NeighbourReady):
                return worker
            refusal = ready
        self._staff.dismiss(worker)
        return refusal

    def _dismiss(self) -> None:
        worker, self._worker = self._worker, None
        self._asked = False
        if worker is not None:
            self._end(worker)

    def _end(self, worker: Worker) -> None:
        worker.kill()  # it may be inside a run that never returns, and has nothing to say
        self._staff.dismiss(worker)


def is_watched(cell: Cell, scenario: ScenarioRecord) -> bool:
    """Whether a fault may strike in the cell, on a device that other processes may use, too."""
    return (bool(cell.faults) or scenario.may_strike) and cell.target.watch_process and cell.target.adapter != NO_DEVICE


def neighbour_params(staff: Staff, expectations: Expectations) -> NeighbourParams | None:
    """What a neighbour is asked to run, and what it must answer; None where the oracle knows too little."""
    if len(expectations.recipes) < REQUESTS:
        return None
    judged = not expectations.unknown
    return NeighbourParams(
        staff.target,
        expectations.model_digest,
        expectations.recipes[:REQUESTS],
        expectations.answers[:REQUESTS] if judged else (),
        expectations.fallback_answers[:REQUESTS] if judged else (),
    )


def _both(earlier: Look, later: Look) -> Look:
    """One look for two: whatever of it is not right is kept."""
    in_flight = [*earlier.answers, later.in_flight]
    return Look(later.fresh, next((answer for answer in in_flight if answer not in RIGHT), in_flight[-1]))
