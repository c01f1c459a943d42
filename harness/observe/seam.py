"""The seam under the service: the opener that it is given, and the sessions and calls behind it.

Each step of a call is recorded with a begin and an end. Between the two, in this order: a gate may hold the step, a
fault may strike, and the strategy may let others go; then the native call runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from adapters.base import Adapter, Arrays, Call, ContractError, Counters, ModelFile, Options, RunError, Session
from harness.digests import inputs_digest
from harness.faults.fault import Fault
from harness.faults.plan import FaultPlan
from harness.history import Attr
from harness.observe.recorder import Recorder
from harness.observe.world import World

__all__ = ["Gates", "ObservedSession", "Seam"]


class Gates(Protocol):
    """Holds calls at points. Called on the thread that makes the call."""

    def stand(self, point: str, task: str | None, session: str) -> None:
        """Return when no gate holds this call at this point."""


class _Hit:
    """Where a fault strikes."""

    def __init__(self, task: str | None, world: World, *, fallback: bool) -> None:
        self.task = task
        self.fallback = fallback
        self._world = world

    def sleep(self, seconds: float) -> None:
        self._world.sleep(seconds)


class Seam:
    """What the sessions of one execution share."""

    def __init__(self, world: World, recorder: Recorder, gates: Gates, faults: FaultPlan) -> None:
        self.world = world
        self.recorder = recorder
        self.gates = gates
        self.faults = faults
        self.task_of_input: dict[bytes, str] = {}
        self.sessions: list[ObservedSession] = []
        self._attributed = False

    def opener(self, adapter: Adapter, model: ModelFile, delegate: str, options: Options) -> Callable[..., Session]:
        """The opener that the service gets."""

        def open_session(*, fallback: bool = False) -> Session:
            name = f"s{len(self.sessions) + 1}"
            session = ObservedSession(self, name)
            self.sessions.append(session)
            session.open(
                lambda: adapter.open(model, adapter.cpu_delegate if fallback else delegate, options), fallback=fallback
            )
            return session

        return open_session

    def step(
        self, point: str, session: str, task: str | None, native: Callable[[], Any], begin: dict[str, Attr]
    ) -> Any:
        """Take one step of a call. What the native call or a fault raises is recorded and goes on to the service."""
        recorder = self.recorder
        recorder.record(f"{point}-begin", task, session, attrs=begin)
        call = begin["call"]
        self.gates.stand(point, task, session)
        self._attributed |= task is not None
        # A run of the service's own (a keep-alive, say) is not what a script arms a fault for, where others are known.
        own = point == "invoke" and task is None and self._attributed
        fault = None if own else self.faults.at(point, fallback=bool(begin.get("fallback")))
        self.world.pause()
        try:
            if fault is not None:
                self._strike(fault, point, session, task, fallback=bool(begin.get("fallback")))
            result = native()
        except Exception as error:
            recorder.record(f"{point}-end", task, session, attrs=self._end(point, call, error))
            raise
        if point != "session-open":
            recorder.record(f"{point}-end", task, session, attrs=self._end(point, call, None))
        return result

    @staticmethod
    def _end(point: str, call: Attr, error: Exception | None) -> dict[str, Attr]:
        attrs: dict[str, Attr] = {"call": call, "answer": "ok" if error is None else "error"}
        if error is not None:
            attrs["error"] = type(error).__name__
        if point == "bind":
            attrs["reached_runtime"] = not isinstance(error, ContractError)
        return attrs

    def _strike(self, fault: Fault, point: str, session: str, task: str | None, *, fallback: bool) -> None:
        self.recorder.record("fault-injected", task, session, attrs={"fault": fault.name, "point": point})
        fault.strike(_Hit(task, self.world, fallback=fallback))


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
        self._session.used()
        return outputs

    def _step(self, point: str, native: Callable[[], Any], begin: dict[str, Attr]) -> Any:
        session = self._session
        return session.seam.step(point, session.name, self._task, native, begin)


class ObservedSession(Session):
    """A session as the service sees it."""

    def __init__(self, seam: Seam, name: str) -> None:
        self.seam = seam
        self.name = name
        self._inner: Session | None = None
        self._last_use: object = None
        self._closed = False
        self.on_fallback = False
        self._interrupted = False
        self._staged: dict[str, tuple[int, str | None]] = {}

    def open(self, opening: Callable[[], Session], *, fallback: bool) -> None:
        """Open the real session behind this one."""
        recorder = self.seam.recorder
        call = recorder.next_call()
        inner: Session = self.seam.step("session-open", self.name, None, opening, {"call": call, "fallback": fallback})
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
        self._interrupted = False
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
        if self._interrupted:
            invoke()
            return
        if world.holds_native:
            self.seam.recorder.record("in-native", None, self.name)
        world.native(self.name, invoke)

    def used(self) -> None:
        """Note that the calling thread has used the session up to now."""
        self._last_use = self.seam.world.moment()

    def call(self, inputs: Arrays) -> ObservedCall:
        """Start a call."""
        return ObservedCall(self, self._open.call(inputs), inputs)

    def bind(self, inputs: Arrays) -> None:
        """The session's own bind, where the runtime has one."""
        number = self.seam.recorder.next_call()
        task, begin = self.begin_run(number, inputs)
        self._staged[self.seam.world.thread()] = (number, task)
        inner: Any = self._open
        self.seam.step("bind", self.name, task, lambda: inner.bind(inputs), begin)

    def invoke(self) -> None:
        """The session's own invoke, where the runtime has one."""
        number, task = self._bound()
        inner: Any = self._open
        self.seam.step("invoke", self.name, task, lambda: self.native(inner.invoke), {"call": number})

    def fetch(self) -> dict[str, Any]:
        """The session's own fetch, where the runtime has one."""
        number, task = self._bound()
        inner: Any = self._open
        outputs = self.seam.step("fetch", self.name, task, inner.fetch, {"call": number})
        self.used()
        return outputs

    def _bound(self) -> tuple[int, str | None]:
        """The run that this thread has bound last."""
        bound = self._staged.get(self.seam.world.thread())
        return (self.seam.recorder.next_call(), None) if bound is None else bound

    def interrupt(self) -> None:
        """Ask the call in flight to end early."""
        self.seam.recorder.record("interrupt", None, self.name)
        self._interrupted = True
        self._open.interrupt()
        self.seam.world.interrupted(self.name)

    def counters(self) -> Counters:
        """The live native resources."""
        return self._open.counters()

    def close(self) -> None:
        """Release the session, once."""
        call = self.seam.recorder.next_call()
        again, self._closed = self._closed, True
        inner = self._open
        self.seam.step("session-close", self.name, None, inner.close, {"call": call, "again": again})

    def release_for_harness(self) -> None:
        """Close the real session if the service did not, once the execution has been judged. Not recorded."""
        if self._inner is not None and not self._closed:
            self._inner.close()

    @property
    def _open(self) -> Session:
        if self._inner is None:
            message = "the session never opened"
            raise RunError(message)
        return self._inner
