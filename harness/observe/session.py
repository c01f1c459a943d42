"""The sessions and calls that a service works with: each passes its steps on to the seam, and so to the real ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adapters.base import (
    Arrays,
    Call,
    Counters,
    Grain,
    RunError,
    Session,
    Shapes,
)
from harness.digests import inputs_digest
from harness.faults.fault import Outputs
from harness.history import Attr
from harness.observe.hit import SeamHit

if TYPE_CHECKING:
    from harness.observe.seam import Seam

__all__ = ["ObservedCall", "ObservedSession"]


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
        self._step("bind", lambda: self._session.bound_by(self._inner.bind), begin)

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

    def __init__(self, seam: Seam, name: str, version: str = "", *, is_next: bool = False) -> None:
        self.seam = seam
        self.name = name
        self._version = version
        self._is_next = is_next
        self._inner: Session | None = None
        self._last_use: object = None
        self._closed = self._released = False
        self.on_fallback = False
        self.interrupted = False
        self.instance = 0
        """What the native fault library calls it; 0 where it is not in it."""
        self.parks: SeamHit | None = None
        """What has the next native call hang."""
        self.previous: Outputs | None = None
        self._staged: dict[str, tuple[int, str | None]] = {}

    def open(self, opening: Callable[[], Session], *, fallback: bool) -> None:
        """Open the real session behind this one."""
        recorder = self.seam.recorder
        call = recorder.next_call()
        begin: dict[str, Attr] = {"call": call, "fallback": fallback}
        if self._version:
            begin["version"] = self._version
        if self._is_next:
            begin["model"] = "next"
        inner: Session = self.seam.step("session-open", self, None, lambda: self._numbered(opening), begin)
        self._inner = inner
        self.on_fallback = fallback or inner.delegate.fallback
        self.contract, self.identity, self.delegate = inner.contract, inner.identity, inner.delegate
        self.sharing, self.interrupt_grain = inner.sharing, inner.interrupt_grain
        truth = inner.delegate
        delegated = sum(placement.nodes for placement in truth.placement if placement.on == truth.actual)
        end: dict[str, Attr] = {
            "call": call,
            "answer": "ok",
            "requested": truth.requested,
            "actual": truth.actual,
            "delegated_nodes": delegated,
            "graph_nodes": truth.graph_nodes,
            "fallback": truth.fallback,
            "evidence": truth.evidence,
            "sharing": inner.sharing.value,
            **({} if inner.interrupt_grain is Grain.NONE else {"interruptible": True}),
        }
        if self.instance and self.seam.natives is not None and self.seam.natives.threads_bound:
            end["thread_bound"] = True
        recorder.record("session-open-end", None, self.name, attrs=end)
        self._last_use = self.seam.world.moment()

    def _numbered(self, opening: Callable[[], Session]) -> Session:
        """Open the real session, and note its number in the native fault library if it is in there."""
        natives = self.seam.natives
        newest = 0 if natives is None else natives.newest
        inner = opening()
        if natives is not None and natives.newest > newest and not inner.delegate.fallback:
            self.instance = natives.newest
        return inner

    def begin_run(self, call: int, inputs: Arrays) -> tuple[str | None, dict[str, Attr]]:
        """Find out whose input this is and how this thread came by the session: task, and attributes of the begin."""
        digest = inputs_digest(inputs)
        task = None if digest is None else self.seam.task_of_input.get(digest)
        begin: dict[str, Attr] = {"call": call}
        if task is None:
            begin["unattributed"] = True
        self._take_over(begin)
        return task, begin

    def bound_by(self, bind: Callable[[], object]) -> None:
        """Bind. A runtime forgets then what it was asked before."""
        bind()
        self.interrupted = False

    def _take_over(self, begin: dict[str, Attr]) -> None:
        """Say how the calling thread came by the session, if it was not this one's already."""
        how = self.seam.world.handover(self._last_use)
        if how != "same":
            begin["handover"] = how
        self.used()

    def native(self, invoke: Callable[[], object]) -> None:
        """Make the native call; one that was interrupted before it began ends at once and is never held."""
        world, hit, self.parks = self.seam.world, self.parks, None
        if hit is not None:
            self.seam.park(hit, invoke)
            return
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
        self.seam.step("bind", self, task, lambda: self.bound_by(lambda: inner.bind(inputs)), begin)

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

    def resize(self, shapes: Shapes) -> None:
        """Plan for other shapes. What the runtime raises is recorded and goes on to the service."""
        recorder, inner = self.seam.recorder, self._open
        call = recorder.next_call()
        begin: dict[str, Attr] = {"call": call}
        self._take_over(begin)
        recorder.record("resize-begin", None, self.name, attrs=begin)
        self.seam.world.pause()
        end: dict[str, Attr] = {"call": call, "answer": "ok"}
        try:
            inner.resize(shapes)
        except Exception as error:
            end |= {"answer": "error", "error": type(error).__name__}
            raise
        finally:
            self.used()
            recorder.record("resize-end", None, self.name, attrs=end)

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
