"""What a service writes into its event ring, and the class of the last error."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its locks
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from harness.service.clock import monotonic
from harness.service.errors import DeadlineExpiredError, ReplacedError, ServiceError
from harness.service.event_ring import Event, EventRing, Evidence, Incident, SlotUse, Stages
from harness.service.observer import NullObserver, Observer, heard

if TYPE_CHECKING:
    from harness.service.future import InferenceFuture, Place
    from harness.service.run import Run
    from harness.service.slot import Slot

__all__ = ["Recorder"]


class Recorder(NullObserver):
    """Hears the service as its observer does, and writes what it hears.

    It writes numbers, names of the service's own and classes of errors; nothing of a task's inputs, outputs or error
    text ever gets here. With a `size` of 0 it writes nothing and only remembers `last_error`. What is said of the
    observer's calls holds here; `ending`, `wait_ended`, `recent`, `frozen` and `evidence` need the service's lock.

    What every task does is not written here but in place, to save the calls: the service and its crew note the times
    that a task was accepted and started on its future, and the runner writes them with the end of the call.
    """

    def __init__(self, lock: threading.RLock, size: int, waiting: Callable[[], list[Run]]) -> None:
        self.last_error: str | None = None
        self.slots: Sequence[Slot] = ()
        self._lock = lock
        self._waiting = waiting
        self.ring = EventRing(size) if size else None

    def observer(self, theirs: Observer) -> Observer:
        """What the service tells: this recorder where there is a ring, and the configured observer."""
        if self.ring is None:
            return theirs
        return self if type(theirs) is NullObserver else _Both(self, theirs)

    def recent(self) -> tuple[Event, ...]:
        """The last events, oldest first."""
        return () if self.ring is None else self.ring.recent(self._live())

    def frozen(self) -> tuple[Incident, ...]:
        """What was kept around errors, oldest first."""
        return () if self.ring is None else self.ring.frozen()

    # -- how tasks end ------------------------------------------------------------------------------------------------

    def failed(self, slot: int, run: Run, error: BaseException) -> None:
        """The run ended with an error, which its tasks do not know yet. On the worker, with no lock held."""
        name = type(error).__name__
        with self._lock:
            first = run.first_live()
            if first is not None:
                self.last_error = name
            if self.ring is None:
                return
            if first is None:
                self.ring.put_locked((monotonic(), "dropped", run.futures[0].number, slot, name))
            else:
                self._freeze(first, "failed", name, name)

    def ending(self, future: InferenceFuture, place: Place, error: ServiceError | None) -> None:
        """The task is being ended from outside its run; it still has its place or its slot."""
        kind = "cancelled" if error is None else _KINDS.get(type(error), "ended")
        serious = error is not None and kind != "replaced"
        if serious:
            self.last_error = type(error).__name__
        if self.ring is None:
            return
        self.ring.put_locked(_stages(future, None))
        if serious:
            self._freeze(future, kind, place, type(error).__name__)
        else:
            self.ring.put_locked((monotonic(), kind, future.number, None, place))

    def wait_ended(self, future: InferenceFuture) -> None:
        """A client's wait for the task was over before the task was."""
        if future.run is not None:
            self._freeze(future, "wait-ended", None, "TimeoutError")

    # -- the rest of what an observer hears ---------------------------------------------------------------------------

    def ended(self, future: InferenceFuture, how: str) -> None:
        """Write that outputs came late; how else a task ended is written by `ending`."""
        if how == "late":
            self._write("late", future.number)

    def slot(self, slot: int, state: str) -> None:
        """Write what the slot is now. With no lock held."""
        assert self.ring is not None, "an observer only where there is a ring"
        self.ring.put((monotonic(), "slot", None, slot, state))

    def recovery(self, slot: int, step: str) -> None:
        """Write how far the slot's recovery is."""
        assert self.ring is not None, "an observer only where there is a ring"
        self.ring.put_locked((monotonic(), "recovery", None, slot, step))

    def health(self, name: str) -> None:
        """Write how the service is."""
        self._write("health", detail=name)

    def closing(self, reason: str) -> None:
        """Write why the service is being closed."""
        self._write("closing", detail=reason)

    def state(self, name: str) -> None:
        """Write what the service is now."""
        self._write("state", detail=name)

    # -- evidence -----------------------------------------------------------------------------------------------------

    def evidence(self, future: InferenceFuture) -> Evidence:
        """What is so of the task now. Under the service's lock."""
        used = [(slot, run) for slot in self.slots if (run := slot.run) is not None]
        mine = future.run
        on = next((slot for slot, run in used if run is mine), None)
        if on is not None:
            waits, holds = f"slot {on.number}" if on.outcome is None else "delivery", f"slot {on.number}"
        elif mine is None:
            waits, holds = None, "nobody"
        else:
            waits, holds = ("a slot", "queue") if future.started_at is None else ("delivery", "nobody")
        return Evidence(
            task_id=future.task_id,
            request_class=future.request_class,
            at=monotonic(),
            accepted_at=future.accepted_at,
            started_at=future.started_at,
            due=future.due,
            waits_for=waits,
            buffers_held_by=holds,
            queue_depth=len(self._waiting()),
            busy=tuple(
                SlotUse(slot=slot.number, task_id=run.futures[0].task_id, since=run.futures[0].started_at)
                for slot, run in used
            ),
        )

    def _live(self) -> list[Stages]:
        on_slots = [(slot.number, run) for slot in self.slots if (run := slot.run) is not None]
        runs = [*((None, run) for run in self._waiting()), *on_slots]
        return [_stages(future, number) for number, run in runs for future in run.futures if future.run is run]

    def _freeze(self, future: InferenceFuture, kind: str, detail: str | None, error: str) -> None:
        evidence, run = self.evidence(future), future.run
        slot = next((slot.number for slot in self.slots if run is not None and slot.run is run), None)
        assert self.ring is not None, "there is something to freeze"
        self.ring.freeze((evidence.at, kind, future.number, slot, detail), error, evidence, self._live())

    def _write(self, kind: str, number: int | None = None, detail: str | None = None) -> None:
        assert self.ring is not None, "an observer only where there is a ring"
        self.ring.put_locked((monotonic(), kind, number, None, detail))


_KINDS: dict[type[ServiceError], str] = {DeadlineExpiredError: "expired", ReplacedError: "replaced"}


def _stages(future: InferenceFuture, slot: int | None) -> Stages:
    return future.number, slot, future.accepted_at, future.started_at, None


class _Both:
    """Tells the recorder first: an observer that raises has its call in the ring."""

    def __init__(self, recorder: Recorder, theirs: Observer) -> None:
        self.dequeued, self.leased, self.returned = theirs.dequeued, theirs.leased, theirs.returned
        self.state = _in_turn(recorder.state, heard(theirs, "state"))
        self.ended = _in_turn(recorder.ended, heard(theirs, "ended"))
        self.slot = _in_turn(recorder.slot, heard(theirs, "slot"))
        self.recovery = _in_turn(recorder.recovery, heard(theirs, "recovery"))
        self.health = _in_turn(recorder.health, heard(theirs, "health"))
        self.closing = _in_turn(recorder.closing, heard(theirs, "closing"))


def _in_turn(first: Callable[..., None], second: Callable[..., None]) -> Callable[..., None]:
    def both(*args: object) -> None:
        first(*args)
        second(*args)

    return both
