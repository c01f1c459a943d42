"""The seam under the service: the opener that it is given, and the sessions and calls behind it.

Each step of a call is recorded with a begin and an end. Between the two, in this order: a gate may hold the step, the
strategy may let others go, and a fault may strike; then the native call runs, and a fault may change what it returned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from adapters.base import (
    Adapter,
    Arrays,
    Call,
    ContractError,
    Counters,
    ModelFile,
    Options,
    RunError,
    RunInterruptedError,
    Session,
)
from harness.digests import inputs_digest
from harness.faults.fault import RUN_POINTS, Outputs
from harness.faults.plan import FaultPlan, Site, Strike
from harness.faults.worker_death import WorkerDeathError
from harness.history import Attr
from harness.observe.recorder import Recorder
from harness.observe.world import World

__all__ = ["Gates", "ObservedSession", "Seam"]


class Gates(Protocol):
    """Holds calls at points. Called on the thread that makes the call, `interrupted` on any."""

    def stand(self, point: str, task: str | None, session: str) -> None:
        """Return when no gate holds this call at this point."""

    def hang(self, point: str, task: str | None, session: str, *, interruptible: bool) -> bool:
        """Return when the session was interrupted (True), or when nobody else can move (False)."""
        ...

    def interrupted(self, session: str) -> None:
        """End what hangs on this session and can be interrupted."""


class _Hit:
    """Where a fault strikes."""

    def __init__(self, seam: Seam, session: ObservedSession, point: str, task: str | None, *, fallback: bool) -> None:
        self.task = task
        self.fallback = fallback
        self.previous: Outputs | None = session.previous
        self._seam = seam
        self.session = session
        self._point = point

    def sleep(self, seconds: float) -> None:
        self._seam.world.sleep(seconds)

    def hang(self, *, interruptible: bool) -> None:
        over = interruptible and self.session.interrupted
        if over or self._seam.gates.hang(self._point, self.task, self.session.name, interruptible=interruptible):
            message = f"injected: the run was interrupted [{self.task}]"
            raise RunInterruptedError(message)

    def jump(self, seconds: float) -> None:
        self._seam.world.jump(seconds)


class Seam:
    """What the sessions of one execution share."""

    def __init__(self, world: World, recorder: Recorder, gates: Gates, faults: FaultPlan) -> None:
        self.world = world
        self.recorder = recorder
        self.gates = gates
        self.faults = faults
        self.task_of_input: dict[bytes, str] = {}
        self.altered: dict[str, set[bytes]] = {}
        """The digests of what faults made of each task's outputs."""
        self.sessions: list[ObservedSession] = []
        self._attributed = False

    def opener(
        self, adapter: Adapter, model: ModelFile, delegate: str, options: Options, version: str = ""
    ) -> Callable[..., Session]:
        """The opener that the service gets; its sessions are of a version with a name, or of the first one."""

        def open_session(*, fallback: bool = False) -> Session:
            name = f"s{len(self.sessions) + 1}"
            session = ObservedSession(self, name, version)
            self.sessions.append(session)
            session.open(
                lambda: adapter.open(model, adapter.cpu_delegate if fallback else delegate, options), fallback=fallback
            )
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
                result = self._strike(struck, _Hit(self, session, point, task, fallback=fallback), point, native)
        except (Exception, WorkerDeathError) as error:
            recorder.record(f"{point}-end", task, session.name, attrs=self._end(point, call, error))
            raise
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
        )
        return self.faults.at(site)

    def _strike(self, strike: Strike, hit: _Hit, point: str, native: Callable[[], Any]) -> Any:
        """Make the call with a fault in it: before it, or in what it returns. Errors say how far they reach."""
        fault = strike.fault
        attrs: dict[str, Attr] = {"fault": fault.name, "point": point, "scope": fault.scope.value}
        if strike.again:
            attrs["again"] = True
        self.recorder.record("fault-injected", hit.task, hit.session.name, attrs=attrs)
        try:
            fault.strike(hit)
        except BaseException as error:
            vars(error)["scope"] = fault.scope.value
            raise
        result = native()
        if fault.alter is None:
            return result
        altered = fault.alter(hit, result)
        digest = inputs_digest(altered)
        if hit.task is not None and digest is not None:
            self.altered.setdefault(hit.task, set()).add(digest)
        return altered

    @staticmethod
    def _end(point: str, call: Attr, error: BaseException | None) -> dict[str, Attr]:
        attrs: dict[str, Attr] = {"call": call, "answer": "ok" if error is None else "error"}
        if error is not None:
            attrs["error"] = type(error).__name__
        if point == "bind":
            attrs["reached_runtime"] = not isinstance(error, ContractError)
        return attrs


class ObservedCall:
    """One run, observed."""

    def __init__(self, session: ObservedSession, inner: Call, inputs: Arrays) -> None:
        self._session = session
        self._inner = inner
        self._inputs = inputs
        self._number = session.seam.recorder.next_call()
        self._task: str | None = None

    def bind(self) -> None:
        """Bind, after finding out whose input this is."""
        self._task, begin = self._session.begin_run(self._number, self._inputs)
        self._step("bind", self._inner.bind, begin)

    def invoke(self) -> None:
        """Invoke: the step that is atomic or held."""
        self._step("invoke", lambda: self._session.native(self._inner.invoke), {"call": self._number})

    def fetch(self) -> dict[str, Any]:
        """Fetch, and note that the run is over."""
        outputs = self._step("fetch", self._inner.fetch, {"call": self._number})
        self._session.gave(outputs)
        return outputs

    def _step(self, point: str, native: Callable[[], Any], begin: dict[str, Attr]) -> Any:
        session = self._session
        return session.seam.step(point, session, self._task, native, begin)


class ObservedSession(Session):
    """A session as the service sees it."""

    def __init__(self, seam: Seam, name: str, version: str = "") -> None:
        self.seam = seam
        self.name = name
        self._version = version
        self._inner: Session | None = None
        self._last_use: object = None
        self._closed = self._released = False
        self.on_fallback = False
        self.interrupted = False
        self.previous: Outputs | None = None
        self._staged: dict[str, tuple[int, str | None]] = {}

    def open(self, opening: Callable[[], Session], *, fallback: bool) -> None:
        """Open the real session behind this one."""
        recorder = self.seam.recorder
        call = recorder.next_call()
        begin: dict[str, Attr] = {"call": call, "fallback": fallback}
        if self._version:
            begin["version"] = self._version
        inner: Session = self.seam.step("session-open", self, None, opening, begin)
        self._inner = inner
        self.on_fallback = fallback or inner.delegate.fallback
        self.contract, self.identity, self.delegate = inner.contract, inner.identity, inner.delegate
        self.sharing, self.interrupt_grain = inner.sharing, inner.interrupt_grain
        truth = inner.delegate
        delegated = sum(placement.nodes for placement in truth.placement if placement.on == truth.actual)
        recorder.record(
            "session-open-end",
            None,
            self.name,
            attrs={
                "call": call,
                "answer": "ok",
                "requested": truth.requested,
                "actual": truth.actual,
                "delegated_nodes": delegated,
                "graph_nodes": truth.graph_nodes,
                "fallback": truth.fallback,
                "evidence": truth.evidence,
                "sharing": inner.sharing.value,
            },
        )
        self._last_use = self.seam.world.moment()

    def begin_run(self, call: int, inputs: Arrays) -> tuple[str | None, dict[str, Attr]]:
        """Find out whose input this is and how this thread came by the session: task, and attributes of the begin."""
        digest = inputs_digest(inputs)
        self.interrupted = False
        task = None if digest is None else self.seam.task_of_input.get(digest)
        begin: dict[str, Attr] = {"call": call}
        if task is None:
            begin["unattributed"] = True
        how = self.seam.world.handover(self._last_use)
        if how != "same":
            begin["handover"] = how
        self.used()
        return task, begin

    def native(self, invoke: Callable[[], object]) -> None:
        """Make the native call; one that was interrupted before it began ends at once and is never held."""
        world = self.seam.world
        if self.interrupted:
            invoke()
            return
        if world.holds_native:
            self.seam.recorder.record("in-native", None, self.name)
        world.native(self.name, invoke)

    def used(self) -> None:
        """Note that the calling thread has used the session up to now."""
        self._last_use = self.seam.world.moment()

    def gave(self, outputs: Outputs) -> None:
        """Note that a run is over, with what it gave, if a fault is to give that again."""
        self.used()
        if self.seam.faults.remembers:
            self.previous = {name: array.copy() for name, array in outputs.items()}

    @property
    def is_open(self) -> bool:
        """Whether the session runs."""
        return self._inner is not None and not self._closed

    def call(self, inputs: Arrays) -> ObservedCall:
        """Start a call."""
        return ObservedCall(self, self._open.call(inputs), inputs)

    def bind(self, inputs: Arrays) -> None:
        """The session's own bind, where the runtime has one."""
        number = self.seam.recorder.next_call()
        task, begin = self.begin_run(number, inputs)
        self._staged[self.seam.world.thread()] = (number, task)
        inner: Any = self._open
        self.seam.step("bind", self, task, lambda: inner.bind(inputs), begin)

    def invoke(self) -> None:
        """The session's own invoke, where the runtime has one."""
        number, task = self._bound()
        inner: Any = self._open
        self.seam.step("invoke", self, task, lambda: self.native(inner.invoke), {"call": number})

    def fetch(self) -> dict[str, Any]:
        """The session's own fetch, where the runtime has one."""
        number, task = self._bound()
        inner: Any = self._open
        outputs = self.seam.step("fetch", self, task, inner.fetch, {"call": number})
        self.gave(outputs)
        return outputs

    def _bound(self) -> tuple[int, str | None]:
        """The run that this thread has bound last."""
        bound = self._staged.get(self.seam.world.thread())
        return (self.seam.recorder.next_call(), None) if bound is None else bound

    def interrupt(self) -> None:
        """Ask the call in flight to end early."""
        self.seam.recorder.record("interrupt", None, self.name)
        self.interrupted = True
        self._open.interrupt()
        self.seam.world.interrupted(self.name)
        self.seam.gates.interrupted(self.name)

    def counters(self) -> Counters:
        """The live native resources."""
        return self._open.counters()

    def close(self) -> None:
        """Release the session, once."""
        call = self.seam.recorder.next_call()
        again, self._closed = self._closed, True
        inner = self._open
        self.seam.step("session-close", self, None, lambda: self._release(inner), {"call": call, "again": again})

    def release_for_harness(self) -> None:
        """Close the real session if the service did not, once the execution has been judged. Not recorded."""
        if self._inner is not None and not self._released:
            self._release(self._inner)

    def _release(self, inner: Session) -> None:
        self._released = True
        inner.close()

    @property
    def _open(self) -> Session:
        if self._inner is None:
            message = "the session never opened"
            raise RunError(message)
        return self._inner
