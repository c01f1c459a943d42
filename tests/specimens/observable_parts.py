"""An honest queue that says how it is: a specimen overrides exactly the step that is wrong.

Loaded by path, as `parts.py` is.
"""

import math
import time
from collections import deque
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

parts = run_path(str(Path(__file__).parent / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]
EndingFuture = parts["EndingFuture"]
ExpiredError = parts["ExpiredError"]

SLOT = 0


class ObservableFuture(EndingFuture):
    """A future that its service hears of."""

    due = math.inf
    accepted_at = started_at = None
    task_id = None

    def __init__(self, service):
        super().__init__()
        self.service = service

    def cancel(self):
        """End the task as cancelled, waiting or running."""
        return self.service.cancel(self, super().cancel)

    def result(self, timeout=None):
        """Wait for the outcome; the service hears of a wait that was in vain."""
        try:
            return super().result(timeout)
        except TimeoutError:
            if timeout and not self.done():
                self.service.wait_ended(self)
            raise


class ObservableQueue(ContractQueue):
    """One worker, counters, and a ring of events. Everything changes under one lock, outcomes included."""

    capabilities = frozenset({
        "classes", "counters", "deadline", "incidents", "overflow:coalesce", "overflow:reject", "running_cancel",
        "tells-dequeue",
    })  # fmt: skip

    def prepare(self):
        """Start with nothing."""
        self.accepted = self.ended = self.expired = self.late = self.open = 0
        self.last_error = None
        self.running = None
        self.events = deque(maxlen=self.config.events or 1)
        self.incidents = {}

    def open_sessions(self, open_session):
        """Open the session, and count it."""
        sessions = super().open_sessions(open_session)
        self.open = len(sessions)
        return sessions

    def release(self, session):
        """Give back the session, and count it no more."""
        self.open -= 1
        super().release(session)

    def make_future(self):
        """Make a future that this queue hears of."""
        return ObservableFuture(self)

    # -- what happens to tasks ----------------------------------------------------------------------------------------

    def admit_request(self, request, rules, timeout):
        """Take the request in, under the lock, and give its task a name."""
        displaced = super().admit_request(request, rules, timeout)
        future = request.callers[-1]
        self.accepted += 1
        future.task_id, future.due = f"o{self.accepted}", request.due
        self.stamp_accepted(future)
        self.write("accepted", future)
        return displaced

    def stamp_accepted(self, future):
        """Note when the task was accepted."""
        future.accepted_at = time.monotonic()

    def join(self, joined, request):
        """Let a request share the run of an equal one; each keeps its own deadline."""
        joined.callers += request.callers

    def cancel(self, future, cancel):
        """End a task as cancelled."""
        with self.changed:
            was = future.done()
            answer = cancel()
            if not was:
                self.count_cancelled()
                self.write("cancelled", future)
                self.tidy()
            return answer

    def count_cancelled(self):
        """One more task has ended."""
        self.ended += 1

    def watch(self, due, future):
        """Have the task expire when it is due."""
        self.clock.at(due, lambda: self.expire_task(future))

    def expire_task(self, future):
        """End a task whose deadline is over, unless it has ended."""
        with self.changed:
            if not future.done():
                self.count_expired(future)
                self.fail(future, ExpiredError(), "expired")
                self.tidy()

    def count_expired(self, future):
        """One more deadline was over before its task."""
        self.expired += 1

    def tidy(self):
        """Take out what nobody waits for any more, under the lock."""
        for request in [each for each in self.waiting if all(future.done() for future in each.callers)]:
            self.waiting.remove(request)

    def take(self):
        """Wait for the next request; None when there is none and never will be."""
        with self.changed:
            while True:
                while not self.waiting and not self.closing:
                    self.changed.wait()
                if not self.waiting:
                    return None
                request = self.waiting.popleft()
                if self.start(request):
                    return (request,)

    def start(self, request):
        """Say whether somebody waits for the request, and put it on the slot, under the lock."""
        for future in request.callers:
            if future.due <= time.monotonic():  # its clock may be late
                self.expire_task(future)
        request.callers = [future for future in request.callers if future.start()]
        if not request.callers:
            return False
        self.running = request
        for future in request.callers:
            future.started_at = time.monotonic()
            self.write("started", future, SLOT)
            self.config.observer.dequeued(future)
        return True

    def run(self, session, request):
        """Run for those who wait; what comes too late is dropped."""
        self.config.observer.leased(SLOT, request.callers[0])
        try:
            outputs, error = session.run(request.inputs), None
        except Exception as failure:  # noqa: BLE001 - a failed run is its task's outcome
            outputs, error = None, failure
        self.config.observer.returned(SLOT)
        with self.changed:
            self.finish(request, outputs, error)

    def finish(self, request, outputs, error):
        """Give those who still wait what the run gave, under the lock."""
        self.running = None
        for future in request.callers:
            self.write("returned", future, SLOT)
        waiting = [future for future in request.callers if not future.done()]
        if error is None and not waiting:
            self.late += 1
        for future in waiting:
            if error is None:
                self.ended += 1
                self.settle(future, outputs, None)
            else:
                self.fail(future, error, "failed")

    def fail(self, future, error, kind):
        """End a task with an error, under the lock: what is kept of it is there before its client knows."""
        self.note(error)
        self.ended += 1
        self.freeze(future, kind, type(error).__name__)
        future.end(error)

    def note(self, error):
        """Remember the class of the last error."""
        self.last_error = type(error).__name__

    def wait_ended(self, future):
        """A client waited in vain."""
        with self.changed:
            if not future.done():
                self.freeze(future, "wait-ended", "TimeoutError")

    # -- what it says -------------------------------------------------------------------------------------------------

    def depth(self):
        """How many requests wait."""
        return len(self.waiting)

    def held(self):
        """How many sets of inputs there are."""
        return len(self.waiting) + (self.running is not None)

    def counters(self):
        """A consistent snapshot."""
        with self.changed:
            return SimpleNamespace(
                accepted=self.accepted,
                waiting=self.depth(),
                running=int(self.running is not None),
                live_tasks=self.accepted - self.ended,
                buffers=self.held(),
                open_slots=self.open,
                expired=self.expired,
                replaced=0,
                late_results=self.late,
                last_error=self.last_error,
            )

    def recent(self):
        """The last events, oldest first."""
        with self.changed:
            return tuple(self.events)

    def frozen(self):
        """The last incident of each class of errors."""
        with self.changed:
            return tuple(self.incidents.values())

    def write(self, kind, future, slot=None, detail=None):
        """Write an event, under the lock."""
        at = time.monotonic()
        self.events.append(SimpleNamespace(at=at, kind=kind, task_id=future.task_id, slot=slot, detail=detail))

    def freeze(self, future, kind, error):
        """Keep the events around an error, with the evidence, under the lock."""
        evidence = self.evidence(future)
        self.write(kind, future, None, self.detail(future, error))
        events = tuple(self.events)
        self.incidents[error] = SimpleNamespace(error=error, evidence=evidence, events=events, own=len(events) - 1)

    def detail(self, future, error):
        """What an error's event says beside its kind: the class."""
        return error

    def evidence(self, future):
        """What is so of the task now."""
        with self.changed:
            running = self.running is not None and future in self.running.callers
            waits, holder = ("a slot", "queue") if future.started_at is None else ("delivery", "nobody")
            if running:
                waits = holder = f"slot {SLOT}"
            busy = () if self.running is None else (self.running.callers[0],)
            return SimpleNamespace(
                task_id=future.task_id,
                request_class="default",
                at=time.monotonic(),
                accepted_at=future.accepted_at,
                started_at=future.started_at,
                due=None,
                waits_for=None if future.done() else waits,
                buffers_held_by=self.holder(holder),
                queue_depth=self.depth(),
                busy=tuple(SimpleNamespace(slot=SLOT, task_id=each.task_id, since=each.started_at) for each in busy),
            )

    def holder(self, holder):
        """Who holds the task's buffers."""
        return holder
