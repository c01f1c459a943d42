"""How a service ends: its state, why it closes, and what becomes of the tasks that it has."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its locks
from collections.abc import Callable
from functools import partial

from harness.service.clock import Clock, FollowUp, monotonic
from harness.service.crew import Crew
from harness.service.errors import SessionReleaseError
from harness.service.future import Ended, end_all, follow_up, left_over
from harness.service.lifecycle import CloseBehaviour, CloseReason, State
from harness.service.observer import Observer, heard
from harness.service.waiting_line import WaitingLine

__all__ = ["Closing"]


class Closing:
    """The way from `accepting` to `draining` to `closed`. `changed` is called under the lock with every new state."""

    def __init__(
        self, lock: threading.RLock, line: WaitingLine, clock: Clock, observer: Observer, changed: Callable[[], None]
    ) -> None:
        self.state = State.OPENING
        self.reason: CloseReason | None = None
        self._lock = lock
        self._line, self._clock, self._observer, self._changed = line, clock, observer, changed
        self._crew: Crew | None = None

    def opened(self, crew: Crew) -> None:
        """Every slot is open: tasks are taken from now on."""
        with self._lock:
            self._crew = crew
            self._change(State.ACCEPTING)

    def gave_up(self) -> None:
        """The constructor failed; nobody is told."""
        self.state = State.CLOSED

    def begin(self, behaviour: CloseBehaviour, reason: CloseReason) -> None:
        """Refuse new tasks and end or run those accepted. Callbacks of those that it ends run on this thread."""
        ended: Ended = []
        with self._lock:
            if self.state is State.ACCEPTING:
                self.reason = reason
                heard(self._observer, "closing")(reason.value)
                self._change(State.DRAINING)
                self._workers.dismiss()
            if not behaviour.drain:
                ended = self._abort(drop_results=behaviour.drop_results)
            elif behaviour.deadline is not None and self.state is State.DRAINING:
                abort = partial(self._abort_late, drop_results=behaviour.drop_results)
                self._clock.at(monotonic() + behaviour.deadline, abort)
        follow_up(ended)

    def finish(self) -> None:
        """Wait until every worker has ended and the clock has. Raises nothing."""
        self._workers.join()
        self._clock.join()

    def raise_release_errors(self) -> None:
        """Raise SessionReleaseError if a session did not close cleanly."""
        errors = self._workers.release_errors
        if errors:
            message = f"{len(errors)} session(s) did not close cleanly: {type(errors[0]).__name__}"
            raise SessionReleaseError(message) from errors[0]

    def last_left(self) -> None:
        """The last worker has left. Under the lock."""
        self._change(State.CLOSED)
        self._clock.stop()

    @property
    def _workers(self) -> Crew:
        assert self._crew is not None, "a service that is closed was opened before"
        return self._crew

    def _change(self, state: State) -> None:
        self.state = state
        self._changed()
        self._observer.state(state.value)

    def _abort_late(self, *, drop_results: bool) -> FollowUp | None:
        with self._lock:
            return left_over(self._abort(drop_results=drop_results))

    def _abort(self, *, drop_results: bool) -> Ended:
        # Under the lock, so that another close() cannot return while one of these has no outcome yet.
        runs = self._line.runs()
        if drop_results:
            # Read once: a worker gives its run up without the lock.
            runs += [run for slot in self._workers.slots if (run := slot.run) is not None]
        return [ended for run in runs for ended in end_all(run)]
