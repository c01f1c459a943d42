"""What a service says about itself."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its locks
from dataclasses import dataclass

from harness.service.admission import Admission
from harness.service.closing import Closing
from harness.service.crew import Crew
from harness.service.deadlines import Deadlines
from harness.service.event_ring import Event, Evidence, Incident
from harness.service.future import InferenceFuture
from harness.service.health import Health
from harness.service.lifecycle import CloseReason
from harness.service.recorder import Recorder
from harness.service.recoveries import Recoveries
from harness.service.recovery import RecoveryRecord
from harness.service.running import Runner
from harness.service.waiting_line import WaitingLine

__all__ = ["Introspection", "ServiceCounters"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCounters:
    """A consistent snapshot: what is so now, and what has happened so far.

    Now: places taken by `waiting` tasks, the depth of the queue, of which those that share a run take one; runs that
    are `running`; `live_tasks` have no outcome yet; `buffers` are the sets of input arrays that the service holds,
    those of abandoned runs included; `open_slots` have a session, a runtime's context; `usable_slots` are not lost;
    `abandoned` runs are in flight that nobody waits for. So far: tasks `accepted`, `expired` and `replaced`;
    `late_results` dropped; `fallbacks` opened; `release_errors`; the class of the `last_error` that a task ended with.
    """

    accepted: int
    waiting: int
    running: int
    live_tasks: int
    buffers: int
    open_slots: int
    usable_slots: int
    fallbacks: int
    release_errors: int
    expired: int
    replaced: int
    late_results: int
    abandoned: int
    last_error: str | None


class Introspection:
    """The part of a service that only answers questions, on any thread."""

    lock: threading.RLock
    _line: WaitingLine
    _deadlines: Deadlines
    _admission: Admission
    _health: Health
    _closing: Closing
    _runner: Runner
    _crew: Crew
    _recorder: Recorder
    _recoveries: Recoveries

    @property
    def state(self) -> str:
        """`accepting`, `draining` or `closed`."""
        return self._closing.state.value

    @property
    def close_reason(self) -> CloseReason | None:
        """The first reason that the service was closed for; None before."""
        return self._closing.reason

    @property
    def health(self) -> str:
        """`healthy` or `unhealthy`."""
        return self._health.name

    @property
    def fallbacks(self) -> int:
        """How many sessions were opened on the CPU path because their delegate did not start."""
        return sum(slot.fallbacks for slot in self._crew.slots)

    def counters(self) -> ServiceCounters:
        """Return a consistent snapshot."""
        with self.lock:
            running = [run for slot in self._crew.slots if (run := slot.run) is not None]
            held = [*self._line.runs(), *running]
            return ServiceCounters(
                accepted=self._admission.accepted,
                waiting=self._line.size,
                running=len(running),
                live_tasks=sum(future.run is run for run in held for future in run.futures),
                buffers=len(held),
                open_slots=sum(slot.session is not None for slot in self._crew.slots),
                usable_slots=self._health.usable,
                fallbacks=self.fallbacks,
                release_errors=len(self._crew.release_errors),
                expired=self._deadlines.expired,
                replaced=self._admission.replaced,
                late_results=self._runner.late_results,
                abandoned=self._health.abandoned,
                last_error=self._recorder.last_error,
            )

    def recent(self) -> tuple[Event, ...]:
        """Return the last events, oldest first; as many as `ServiceConfig.events` says."""
        with self.lock:
            return self._recorder.recent()

    def frozen(self) -> tuple[Incident, ...]:
        """Return what was kept around errors, oldest first: the latest incident of each of the last 8 error classes.

        An incident is there before its task's outcome is visible.
        """
        with self.lock:
            return self._recorder.frozen()

    def recoveries(self) -> tuple[RecoveryRecord, ...]:
        """Return what was collected of the last recoveries of slots, 8 at most, oldest first."""
        with self.lock:
            return tuple(self._recoveries.records)

    def evidence(self, future: InferenceFuture) -> Evidence:
        """Return what is so of one of this service's tasks now: how far it is, and what it waits for."""
        with self.lock:
            return self._recorder.evidence(future)
