"""An honest queue with the options of the contract: a specimen overrides exactly the step that is wrong.

Loaded by path, as `parts.py` is.
"""

import math
import threading
import time
from collections import defaultdict
from concurrent.futures import InvalidStateError
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

parts = run_path(str(Path(__file__).parent / "parts.py"))
ClosedError = parts["ClosedError"]
FullError = parts["FullError"]
RunningCancelFuture = parts["RunningCancelFuture"]
CancellingQueue = parts["CancellingQueue"]


class ExpiredError(Exception):
    """The deadline was due."""

    outcome = "EXPIRED"


class ReplacedError(Exception):
    """A newer task took the place."""

    outcome = "REPLACED"


class BudgetError(Exception):
    """The run took too long."""


class EndingFuture(RunningCancelFuture):
    """A future that the service can end before its run is over."""

    retry_of = None

    def end(self, error):
        """End the task with an error, unless it has ended; say whether it had not."""
        try:
            self.set_exception(error)
        except InvalidStateError:
            return False
        return True


class Request:
    """One run that is to be made, and who waits for it."""

    def __init__(self, inputs, future, request_class, due, priority, key):
        self.inputs = inputs
        self.callers = [future]
        self.request_class = request_class
        self.due = due
        self.priority = priority
        self.key = key


class Clock:
    """Calls what is due, on a thread of its own."""

    def __init__(self):
        self.changed = threading.Condition()
        self.due = []
        self.stopped = False
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def at(self, moment, call):
        """Have `call` made at that moment."""
        with self.changed:
            self.due.append((moment, call))
            self.changed.notify()

    def serve(self):
        """Wait for the next moment until stopped."""
        while True:
            with self.changed:
                if self.stopped:
                    return
                now = time.monotonic()
                ready = [call for moment, call in self.due if moment <= now]
                self.due = [entry for entry in self.due if entry[0] > now]
                if not ready:
                    self.changed.wait(min((moment - now for moment, _ in self.due), default=None))
            for call in ready:
                call()

    def stop(self):
        """End the thread."""
        with self.changed:
            self.stopped = True
            self.changed.notify()
        self.thread.join()


class ContractQueue(CancellingQueue):
    """One worker; admission, deadlines, run budget and order as configured."""

    capabilities = frozenset({
        "callbacks", "classes", "deadline", "earliest-deadline", "fair-share", "fifo", "overflow:block",
        "overflow:coalesce", "overflow:keep-latest", "overflow:reject", "overflow:replace-oldest", "priority",
        "retry-link", "run-budget", "running_cancel",
    })  # fmt: skip

    def __init__(self, open_session, config):
        self.config = config
        self.classes = {each.name: each for each in config.classes}
        self.since_floor = 0
        self.had = defaultdict(float)
        self.present = set()
        self.reached = 0.0
        super().__init__(open_session, config)

    def open_sessions(self, open_session):
        """Open the session, and start the clock if it opened."""
        sessions = super().open_sessions(open_session)
        self.clock = Clock()
        return sessions

    def make_future(self):
        """Make a future that also expires."""
        return EndingFuture()

    def rules(self, name):
        """What holds for a class of requests."""
        plain = SimpleNamespace(
            name=name,
            capacity=None,
            overflow="reject",
            block_seconds=None,
            priority=0,
            floor=0.0,
            weight=1.0,
            deadline=None,
        )
        return self.classes.get(name, plain)

    def submit(
        self, inputs, *, request_class="default", deadline=None, priority=None, key=None, retry_of=None, timeout=None
    ):
        """Accept one task, or raise ClosedError or FullError."""
        rules = self.rules(request_class)
        future = self.make_future()
        future.retry_of = retry_of
        seconds = rules.deadline if deadline is None else deadline
        due = math.inf if seconds is None else time.monotonic() + seconds
        request = Request(
            self.take_over(inputs), future, request_class, due, rules.priority if priority is None else priority, key
        )
        with self.changed:
            displaced = self.admit_request(request, rules, timeout)
            self.changed.notify_all()
        for other in displaced:
            self.displace(other)
        if due < math.inf:
            self.watch(due, future)
        return future

    def displace(self, request):
        """Tell whoever waits for a request that was taken out."""
        for future in request.callers:
            future.end(ReplacedError())

    def watch(self, due, future):
        """Have the task expire when it is due."""
        self.clock.at(due, lambda: future.end(ExpiredError()))

    def expire(self, request):
        """Let nobody wait for a request that is due."""
        for future in request.callers:
            future.end(ExpiredError())

    def admit_request(self, request, rules, timeout):
        """Take the request in, under the lock; give the requests that it displaced."""
        if self.closing:
            raise ClosedError
        joined = self.equal(request) if rules.overflow == "coalesce" else None
        if joined is not None:
            self.join(joined, request)
            return []
        displaced = self.make_room(request, rules, timeout)
        for other in displaced:
            self.waiting.remove(other)
        self.waiting.append(request)
        return displaced

    def join(self, joined, request):
        """Let a request share the run of an equal one, which is then as urgent as the more urgent of the two."""
        joined.callers += request.callers
        joined.priority = max(joined.priority, request.priority)
        joined.due = max(joined.due, request.due)  # the last of them; each caller's own is watched by itself

    def make_room(self, request, rules, timeout):
        """Choose who has to go, or wait, or refuse."""
        same = [other for other in self.waiting if other.request_class == request.request_class]
        if rules.overflow == "keep-latest":
            return same
        if not self.is_full(rules):
            return []
        if rules.overflow == "replace-oldest" and same:
            return same[:1]
        if rules.overflow == "block":
            self.wait_for_room(rules, rules.block_seconds if timeout is None else timeout)
            return []
        raise FullError

    def is_full(self, rules):
        """Whether there is no place for another task of this class."""
        same = sum(other.request_class == rules.name for other in self.waiting)
        return len(self.waiting) >= self.capacity or (rules.capacity is not None and same >= rules.capacity)

    def wait_for_room(self, rules, seconds):
        """Wait for a place, or raise."""
        there = self.changed.wait_for(lambda: self.closing or not self.is_full(rules), seconds)
        if self.closing:
            raise ClosedError
        if not there:
            raise FullError

    def equal(self, request):
        """The waiting request with the same key."""
        if request.key is None:
            return None
        return next((other for other in self.waiting if other.key == request.key), None)

    def take(self):
        """Wait for the next request; None when there is none and never will be."""
        with self.changed:
            while not self.waiting and not self.closing:
                self.changed.wait()
            if not self.waiting:
                return None
            request = self.choose()
            self.waiting.remove(request)
            self.changed.notify_all()
            return (request,)

    def choose(self):
        """The request that starts next, under the lock."""
        if self.config.ordering == "priority":
            return max(self.waiting, key=lambda request: request.priority)
        if self.config.ordering == "earliest-deadline":
            return min(self.waiting, key=lambda request: request.due)
        if self.config.ordering == "fair-share":
            return self.choose_fairly()
        return self.waiting[0]

    def choose_fairly(self):
        """The first of a class whose floor is due, else the first of the class that has had the least by its weight."""
        floors = [request for request in self.waiting if self.rules(request.request_class).floor]
        self.since_floor += 1
        if floors and self.since_floor >= int(1 / self.rules(floors[0].request_class).floor):
            self.since_floor = 0
            return floors[0]
        return self.choose_by_weight()

    def choose_by_weight(self):
        """The first of the class that has had the fewest starts for its weight, of those that have tasks waiting."""
        present = {request.request_class for request in self.waiting}
        for name in present - self.present:
            self.had[name] = max(self.had[name], self.reached)  # who had nothing waiting has saved nothing up
        self.present = present
        chosen = min(self.waiting, key=lambda request: self.had[request.request_class])
        self.reached = max(self.reached, self.had[chosen.request_class])
        self.had[chosen.request_class] += 1 / self.rules(chosen.request_class).weight
        return chosen

    def run(self, session, request):
        """Run for those who still wait; what comes too late is dropped."""
        if request.due <= time.monotonic():  # its clock may be late
            self.expire(request)
        callers = [future for future in request.callers if future.start()]
        if not callers:
            return
        if self.config.run_budget is not None:
            self.limit(time.monotonic() + self.config.run_budget, callers)
        try:
            outputs, error = session.run(request.inputs), None
        except Exception as failure:  # noqa: BLE001 - a failed run is its task's outcome
            outputs, error = None, failure
        for future in callers:
            self.settle(future, outputs, error)

    def limit(self, due, callers):
        """Have the tasks of a run fail when it takes too long."""
        for future in callers:
            self.clock.at(due, lambda future=future: future.end(BudgetError()))

    def settle(self, future, outputs, error):
        """Give one caller what the run gave, unless its task has ended."""
        if error is not None:
            future.end(error)
            return
        try:
            future.set_result({name: array.copy() for name, array in outputs.items()})
        except InvalidStateError:
            return

    def close(self):
        """Refuse new tasks, run those that wait, and return when all is done."""
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()
        self.clock.stop()
