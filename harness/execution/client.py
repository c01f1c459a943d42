"""The client's side of a controlled execution: submits, cancels, waits and closes, each recorded as an interval."""

from __future__ import annotations

import concurrent.futures
import inspect
from typing import Any

from harness.execution.run_state import RunState
from harness.history import Attr
from harness.scenario import Outcome

__all__ = ["ControlledClientTask", "ControlledInput", "ControlledService"]


class ControlledInput:
    """A task's input before it is submitted: `arrays` are the caller's own and may be overwritten later."""

    def __init__(self, number: int, arrays: dict[str, Any], *, malformed: bool) -> None:
        self.number = number
        self.arrays = arrays
        self.malformed = malformed

    @property
    def task(self) -> str:
        """The TaskId."""
        return f"t{self.number + 1}"


class ControlledClientTask:
    """See `harness.scenario.ClientTask`."""

    def __init__(self, state: RunState, source: ControlledInput) -> None:
        self._state = state
        self._source = source
        self.task = source.task
        self.future: Any = None
        self.refused_with = ""
        self.delivered: str | None = None
        self._value: Any = None
        self._digest = ""

    @property
    def accepted(self) -> bool:
        """Whether the service took the task."""
        return self.future is not None

    def cancel(self) -> bool:
        """Cancel, recorded with its answer."""
        if self.future is None:
            return False
        recorder = self._state.recorder
        call = recorder.next_call()
        recorder.record("cancel-begin", self.task, attrs={"call": call})
        answer = bool(self.future.cancel())
        kind = getattr(self.future, "cancel_kind", None)
        recorder.record(
            "cancel-end", self.task, attrs={"call": call, "answer": answer, "cancel_kind": kind and str(kind)}
        )
        return answer

    def result(self, timeout: float | None = None) -> Outcome:
        """Wait, recorded with what came of it."""
        if self.future is None:
            return Outcome("REFUSED", self.refused_with)
        recorder = self._state.recorder
        call = recorder.next_call()
        limit = -1 if timeout is None else round(timeout * 1000)
        recorder.record("wait-begin", self.task, attrs={"call": call, "timeout_ms": limit})
        outcome = self._observe(timeout)
        answer = "timed-out" if outcome.kind == "TIMED_OUT" else "done"
        recorder.record("wait-end", self.task, attrs={"call": call, "answer": answer})
        if answer == "done":
            self._deliver(outcome, "result")
        return outcome

    def sweep(self) -> None:
        """Look at the future once all is over: every accepted task must have ended by now."""
        if self.future is None:
            return
        if not self.future.done():
            self._state.recorder.record("pending", self.task)
            return
        self._deliver(self._observe(0), "sweep")
        self.recheck()

    def overwrite_input(self) -> None:
        """Overwrite the caller's own arrays with the decoy's."""
        state = self._state
        decoy = state.tasks.decoy(self._source.number)
        for name, array in state.tasks.arrays(decoy).items():
            self._source.arrays[name][...] = array
        state.seam.task_of_input.setdefault(state.tasks.digest(decoy), self.task)
        state.judge.overwritten(self.task)
        state.recorder.record("input-overwritten", self.task)

    def recheck(self) -> None:
        """Digest the delivered output again."""
        if self._digest:
            same = self._state.judge.digest(self._value) == self._digest
            self._state.recorder.record("output-rechecked", self.task, attrs={"same": same})

    def _observe(self, timeout: float | None) -> Outcome:
        future = self.future
        try:
            value = self._state.decode(future.result(timeout))
        except concurrent.futures.CancelledError:
            return Outcome("CANCELLED")
        except Exception as error:  # noqa: BLE001 - how a task failed is data
            if isinstance(error, TimeoutError) and not _is_outcome(future, error):
                return Outcome("TIMED_OUT")
            self._error = error
            return Outcome("FAILED", type(error).__name__)
        if self.delivered is None:
            self._value = value
            self._digest = self._state.judge.digest(value)
        return Outcome("SUCCEEDED", self._state.judge.output(self.task, value))

    def _deliver(self, outcome: Outcome, via: str) -> None:
        """Record the first observation of the outcome, and a later one only if it contradicts it."""
        known = f"{outcome.kind} {outcome.detail}"
        if self.delivered == known:
            return
        self.delivered = known
        self._state.ended.add(self.task)
        attrs: dict[str, Attr] = {"outcome": outcome.kind, "via": via}
        if outcome.kind == "SUCCEEDED":
            attrs["output"] = outcome.detail
        elif outcome.kind == "FAILED":
            attrs["error"] = outcome.detail
            attrs["foreign"] = self._names_another_task(str(self._error))
        self._state.recorder.record("deliver", self.task, attrs=attrs)

    def _names_another_task(self, text: str) -> bool:
        """Injected faults put the TaskId that they struck into their text."""
        return any(f"[{other}]" in text for other in self._state.submitted if other != self.task)


class ControlledService:
    """See `harness.scenario.ServiceUnderTest`."""

    def __init__(self, state: RunState, service: Any, capacity: int) -> None:
        self._state = state
        self._service = service
        self._capacity = capacity
        self._takes_drain = _takes_drain(service)
        self._encode = getattr(service, "encode", None)
        self.closes_begun = 0

    @property
    def capacity(self) -> int:
        """How many accepted tasks may wait, -1 for no bound."""
        return self._capacity

    @property
    def workers(self) -> int:
        """How many tasks may run at once."""
        return self._state.factory.workers

    def submit(self, task: Any) -> ControlledClientTask:
        """Submit, recorded with the answer."""
        assert isinstance(task, ControlledInput), "a script submits what script.task() gave"
        state = self._state
        recorder = state.recorder
        handle = ControlledClientTask(state, task)
        state.submitted.append(handle.task)
        state.judge.submitted(handle.task, task.number, set(state.ended))
        call = recorder.next_call()
        recorder.record(
            "submit-begin", handle.task, attrs={"call": call, "malformed": True} if task.malformed else {"call": call}
        )
        arrays: Any = task.arrays if self._encode is None else self._encode(task.arrays)
        try:
            future = self._service.submit(arrays)
        except Exception as error:  # noqa: BLE001 - a refusal is data
            handle.refused_with = type(error).__name__
            attrs: dict[str, Attr] = {
                "call": call,
                "answer": "refused",
                "refusal": refusal_kind(error),
                "error": type(error).__name__,
            }
            recorder.record("submit-end", handle.task, attrs=attrs)
            return handle
        handle.future = future
        recorder.task_of_future[id(future)] = handle.task
        state.handles.append(handle)
        recorder.record("submit-end", handle.task, attrs={"call": call, "answer": "accepted"})
        return handle

    def close(self, *, drain: bool | None = None) -> None:
        """Close, recorded. What close raises is recorded, not passed on: it is the service's answer."""
        recorder = self._state.recorder
        call = recorder.next_call()
        self.closes_begun += 1
        drain = drain if self._takes_drain else None
        recorder.record("service-close-begin", attrs={"call": call, "drain": drain})
        attrs: dict[str, Attr] = {"call": call, "answer": "returned", "reentrant": False}
        try:
            self._service.close() if drain is None else self._service.close(drain=drain)
        except Exception as error:  # noqa: BLE001 - what close raises is data
            attrs |= {"answer": "raised", "error": type(error).__name__}
        recorder.record("service-close-end", attrs=attrs)


def _is_outcome(future: Any, error: BaseException) -> bool:
    """Whether the task failed with this very error; otherwise only the wait for it ended."""
    if not future.done():
        return False
    if hasattr(future, "cancelled") and hasattr(future, "exception"):
        return not future.cancelled() and future.exception(0) is error
    try:  # the contract asks for result, cancel and done alone
        future.result(0)
    except Exception as again:  # noqa: BLE001 - how a task failed is data
        return isinstance(again, TimeoutError)
    return False


def refusal_kind(error: Exception) -> str:
    """What a refusal means: by our service's errors, `queue.Full`, or the `refusal` attribute of a user's own."""
    declared = getattr(error, "refusal", None)
    if isinstance(declared, str) and declared in {"full", "closed", "contract"}:
        return declared
    names = {kind.__name__ for kind in type(error).__mro__}
    for name, kind in (
        ("QueueFullError", "full"),
        ("Full", "full"),
        ("ServiceClosedError", "closed"),
        ("ContractError", "contract"),
    ):
        if name in names:
            return kind
    return "unclassified"


def _takes_drain(service: Any) -> bool:
    try:
        return "drain" in inspect.signature(service.close).parameters
    except (TypeError, ValueError):
        return False
