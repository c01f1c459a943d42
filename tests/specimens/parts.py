"""Honest building blocks: a specimen overrides exactly the step that is wrong, and its twin does not.

Loaded by path, since a specimen is: `run_path(str(Path(__file__).parents[1] / "parts.py"))` works wherever the worker
and the test runner start, and no package that happens to be called `tests` can come before it.
"""

import threading
from collections import deque
from concurrent.futures import Future, InvalidStateError


class ClosedError(Exception):
    """The service is closing or closed."""

    refusal = "closed"


class FullError(Exception):
    """As many tasks wait as may."""

    refusal = "full"


class BoundedQueue:
    """A bounded queue and `workers` threads, each with a session of its own. One lock guards everything."""

    capabilities = frozenset({"overflow:reject"})
    workers = 1

    def __init__(self, open_session, config):
        self.capacity = config.capacity
        self.changed = threading.Condition()
        self.waiting = deque()
        self.closing = False
        self.prepare()
        sessions = self.open_sessions(open_session)
        self.threads = [threading.Thread(target=self.serve, args=(session,)) for session in sessions]
        for thread in self.threads:
            thread.start()

    def prepare(self):
        """Make what a specimen needs before the workers start."""

    def open_sessions(self, open_session):
        """Open one session for each worker, or none."""
        return open_all(open_session, self.workers)

    def submit(self, inputs):
        """Accept one task, or raise ClosedError or FullError."""
        taken, future = self.take_over(inputs), self.make_future()
        with self.changed:
            self.admit()
            self.waiting.append((taken, future))
            self.changed.notify()
        return future

    def take_over(self, inputs):
        """Make the input the task's own."""
        return {name: array.copy() for name, array in inputs.items()}

    def make_future(self):
        """Make what the client gets."""
        return Future()

    def admit(self):
        """Refuse, under the lock, what there is no place for."""
        if self.closing:
            raise ClosedError
        if len(self.waiting) >= self.capacity:
            raise FullError

    def serve(self, session):
        """Serve one session until closing, on its worker."""
        while (task := self.take()) is not None:
            self.run(session, *task)
        self.release(session)

    def take(self):
        """Wait for the next task; None when there is none and never will be."""
        with self.changed:
            while not self.waiting and not self.closing:
                self.changed.wait()
            return self.waiting.popleft() if self.waiting else None

    def run(self, session, inputs, future):
        """Give one task its outcome."""
        if future.set_running_or_notify_cancel():
            settle(future, session.run, inputs)

    def release(self, session):
        """Give back the session, on its worker."""
        session.close()

    def close(self):
        """Refuse new tasks, run those that wait, and return when all is done."""
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()


class RunningCancelFuture(Future):
    """A future whose running task can be cancelled too: its result is then dropped."""

    cancel_kind = None

    def cancel(self):
        """End the task as cancelled, unless it has ended otherwise, and wake everybody."""
        with self._condition:
            if self._state == "FINISHED":
                return False
            if self._state.startswith("CANCELLED"):
                return True
            self.cancel_kind = "queued" if self._state == "PENDING" else "running"
            self._state = "CANCELLED_AND_NOTIFIED"
            for waiter in self._waiters:
                waiter.add_cancelled(self)
            self._condition.notify_all()
        self._invoke_callbacks()
        return True

    def start(self):
        """Say whether the task may run."""
        with self._condition:
            if self._state != "PENDING":
                return False
            self._state = "RUNNING"
            return True


class CancellingQueue(BoundedQueue):
    """A bounded queue whose running tasks can be cancelled; the session stays taken until the call has returned."""

    capabilities = frozenset({"overflow:reject", "running_cancel"})

    def make_future(self):
        """Make a future that also cancels what runs."""
        return RunningCancelFuture()

    def run(self, session, inputs, future):
        """Run unless cancelled; drop the result if it was cancelled meanwhile."""
        if future.start():
            settle_unless_cancelled(future, session.run, inputs)


def settle(future, run, *args):
    """Give a future what a run returns or raises."""
    try:
        outputs = run(*args)
    except Exception as error:  # noqa: BLE001 - a failed run is its task's outcome
        future.set_exception(error)
    else:
        future.set_result(outputs)


def settle_unless_cancelled(future, run, *args):
    """Give a future what a run returns or raises, unless it was cancelled meanwhile."""
    try:
        settle(future, run, *args)
    except InvalidStateError:
        return


def open_all(open_session, count):
    """Open that many sessions, or none: if one does not open, those that did are closed again."""
    sessions = []
    try:
        for _ in range(count):
            sessions.append(open_session())  # noqa: PERF401 - what opened before an error is closed
    except Exception:
        for session in sessions:
            session.close()
        raise
    return sessions
