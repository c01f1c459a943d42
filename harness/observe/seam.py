"""The seam under the service: the opener that it is given, and each step of the sessions that it opens.

Each step of a call is recorded with a begin and an end. Between the two, in this order: a gate may hold the step, the
strategy may let others go, and a fault may strike; then the native call runs, and a fault may change what it returned.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from adapters.base import (
    AdapterError,
    ContractError,
    RunInterruptedError,
    Scope,
    Session,
    scope_of,
)
from harness.digests import inputs_digest
from harness.faults.fault import RUN_POINTS, Fault, NativeStrike, Outputs
from harness.faults.last_words import say_last_words
from harness.faults.plan import FaultPlan, Site, Strike
from harness.faults.worker_death import WorkerDeathError
from harness.history import Attr
from harness.observe.gates import Gates
from harness.observe.hit import SeamHit
from harness.observe.native import NativeStrikes
from harness.observe.recorder import Recorder
from harness.observe.session import ObservedSession
from harness.observe.world import World

__all__ = ["Seam"]


class Seam:
    """What the sessions of one execution share."""

    def __init__(
        self,
        world: World,
        recorder: Recorder,
        gates: Gates,
        faults: FaultPlan,
        natives: NativeStrikes | None = None,
    ) -> None:
        self.natives = natives
        """Strikes inside native code, where sessions are opened through the native fault library."""
        self.world = world
        self.recorder = recorder
        self.gates = gates
        self.faults = faults
        self.task_of_input: dict[bytes, str] = {}
        self.altered: dict[str, set[bytes]] = {}
        """The digests of what faults made of each task's outputs."""
        self.sessions: list[ObservedSession] = []
        self._attributed = False
        self._lying: set[Attr] = set()
        """The runs that native code was made to compute otherwise."""

    def opener(
        self, opening: Callable[[bool], Session], version: str = "", *, is_next: bool = False
    ) -> Callable[..., Session]:
        """The opener that the service gets; its sessions are of a version with a name, or of the first one.

        `opening` opens a real session, on the fallback path if that is asked for. `is_next`: it is of the model whose
        outputs can be told from those of the first.
        """

        def open_session(*, fallback: bool = False) -> Session:
            name = f"s{len(self.sessions) + 1}"
            session = ObservedSession(self, name, version, is_next=is_next)
            self.sessions.append(session)
            session.open(lambda: opening(fallback), fallback=fallback)
            return session

        return open_session

    def step(
        self,
        point: str,
        session: ObservedSession,
        task: str | None,
        native: Callable[[], Any],
        begin: dict[str, Attr],
    ) -> Any:
        """Take one step of a call. What the native call or a fault raises is recorded and goes on to the service."""
        recorder = self.recorder
        recorder.record(f"{point}-begin", task, session.name, attrs=begin)
        call = begin["call"]
        self.gates.stand(point, task, session.name)
        self.world.shared(self.faults, write=self.faults.armed)
        self._attributed |= task is not None
        fallback = bool(begin.get("fallback"))
        struck = self._struck(point, session, task, fallback=fallback) if self.faults.armed else None
        self.world.pause()
        try:
            if struck is None:
                result = native()
            else:
                result = self._strike(struck, SeamHit(self, session, point, task, begin), point, native)
        except (Exception, WorkerDeathError) as error:
            recorder.record(f"{point}-end", task, session.name, attrs=self._end(point, call, error))
            raise
        if call in self._lying and point == "fetch":
            self._note_altered(task, result)
        if point != "session-open":
            recorder.record(f"{point}-end", task, session.name, attrs=self._end(point, call, None))
        return result

    def _struck(self, point: str, session: ObservedSession, task: str | None, *, fallback: bool) -> Strike | None:
        site = Site(
            point=point,
            session=session.name,
            task=task,
            fallback=fallback,
            # A run of the service's own (a keep-alive, say) is not what a script arms a fault for, where others are.
            own=task is None and self._attributed and point in RUN_POINTS,
            follows=session.previous is not None,
            open_sessions=lambda: [each.name for each in self.sessions if each.is_open],
            native=self.natives is not None and not fallback and (point == "session-open" or session.instance > 0),
        )
        return self.faults.at(site)

    def _strike(self, strike: Strike, hit: SeamHit, point: str, native: Callable[[], Any]) -> Any:
        """Make the call with a fault in it: before it, or in what it returns. Errors say how far they reach."""
        fault = strike.fault
        attrs: dict[str, Attr] = {"fault": fault.name, "point": point, "scope": fault.scope.value}
        if strike.again:
            attrs["again"] = True
        if fault.kills or fault.around is not nullcontext:
            say_last_words(fault.name)
        if fault.around is not nullcontext:
            return self._strike_around(fault, hit, attrs, native)
        self.recorder.record("fault-injected", hit.task, hit.session.name, attrs=attrs)
        try:
            fault.strike(hit)
        except BaseException as error:
            vars(error)["scope"] = fault.scope.value
            raise
        result = native() if fault.native is None else self._strike_inside(fault, fault.native, hit, native)
        if fault.alter is None:
            return result
        altered = fault.alter(hit, result)
        self._note_altered(hit.task, altered)
        return altered

    def _strike_around(self, fault: Fault, hit: SeamHit, attrs: dict[str, Attr], native: Callable[[], Any]) -> Any:
        """Make the call inside of what the fault does to the process. Only one that fails of it was struck."""
        try:
            with fault.around():
                result = native()
        except BaseException:
            self.recorder.record("fault-injected", hit.task, hit.session.name, attrs=attrs)
            raise
        self.faults.came_through(fault)
        return result

    def _strike_inside(self, fault: Fault, strike: NativeStrike, hit: SeamHit, native: Callable[[], Any]) -> Any:
        """Make the call with a fault armed in its native code."""
        assert self.natives is not None, "a native fault waits for sessions of the native fault library alone"
        if strike.kind == "hang":
            hit.session.parks, hit.fault, hit.held_seconds = hit, fault.name, strike.seconds
        if self.natives.falsifies(strike):
            self._lying.add(hit.call)
        try:
            return self.natives.strike(strike, hit.session.instance, native)
        except Exception as error:
            vars(error)["scope"] = fault.scope.value
            raise
        finally:
            if not self.natives.struck and not hit.session.interrupted:
                self.natives.missed.append(fault.name)

    def park(self, hit: SeamHit, invoke: Callable[[], object]) -> None:
        """Make an invoke that hangs inside native code."""
        assert self.natives is not None, "only a native fault parks a call"
        parked = self.natives.park(hit.session.instance)
        try:
            self.gates.park(hit.task, hit.session.name, invoke, parked, hit.held_seconds)
        finally:
            if not parked.entered and not hit.session.interrupted:
                self.natives.missed.append(hit.fault)

    def _note_altered(self, task: str | None, outputs: Outputs) -> None:
        digest = inputs_digest(outputs)
        if task is not None and digest is not None:
            self.altered.setdefault(task, set()).add(digest)

    @staticmethod
    def _end(point: str, call: Attr, error: BaseException | None) -> dict[str, Attr]:
        attrs: dict[str, Attr] = {"call": call, "answer": "ok" if error is None else "error"}
        if error is not None:
            attrs["error"] = type(error).__name__
            if (scope := _lasting(point, error)) is not None:
                attrs["scope"] = scope.value
        if point == "bind":
            attrs["reached_runtime"] = not isinstance(error, ContractError)
        return attrs


def _lasting(point: str, error: BaseException) -> Scope | None:
    """How far a classified failure of a run reaches where it says that its session is of no use any more."""
    if point not in RUN_POINTS or not isinstance(error, AdapterError) or isinstance(error, RunInterruptedError):
        return None
    scope = scope_of(error)
    return scope if scope in {Scope.CONTEXT, Scope.DEVICE} else None
