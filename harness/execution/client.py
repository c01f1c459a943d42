"""The client's side of a controlled execution: submits, cancels, waits and closes, each recorded as an interval."""

from __future__ import annotations

import concurrent.futures
import inspect
from collections.abc import Callable, Hashable
from typing import Any

from adapters.base import Opener
from harness.engine.threads import current
from harness.execution.looks import look
from harness.execution.outcomes import outcome_kind, refusal_attrs
from harness.execution.run_state import RunState
from harness.execution.submit_options import SubmitOptions
from harness.execution.subscriber import ControlledSubscriber
from harness.execution.tasks import overwrite
from harness.faults.worker_death import WorkerDeathError
from harness.history import Attr
from harness.scenario import Outcome
from harness.service.changeover import SwitchPolicy
from harness.service.freshness import FreshSubscriber
from harness.service.lifecycle import CloseReason

__all__ = ["ControlledClientTask", "ControlledInput", "ControlledService"]


class ControlledInput:
    """A task's input before it is submitted: `arrays` are the caller's own and may be overwritten later."""

    def __init__(self, number: int, arrays: dict[str, Any], *, malformed: bool, suffix: str = "") -> None:
        self.number = number
        self.arrays = arrays
        self.malformed = malformed
        self.suffix = suffix

    @property
    def task(self) -> str:
        """The TaskId."""
        return f"t{self.number + 1}{self.suffix}"


class ControlledClientTask:
    """See `harness.scenario.ClientTask`."""

    def __init__(self, state: RunState, source: ControlledInput, *, left_out: bool = False) -> None:
        self._state = state
        self._source = source
        self.task = source.task
        self.future: Any = None
        self.refused_with = ""
        self.retry_after: float | None = None
        self._left_out = left_out
        self.delivered: str | None = None
        self._value: Any = None
        self._digest = ""
        self._overwritten = ""  # what the output was before its caller wrote over it

    @property
    def accepted(self) -> bool:
        """Whether the service took the task."""
        return self.future is not None

    def cancel(self) -> bool:
        """Cancel, recorded with its answer."""
        if self._state.leaves_out("cancel", idle=self.future is None):
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
        if self._state.leaves_out("result", idle=self.future is None):
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
        if state.leaves_out("overwrite", idle=self._left_out):
            return
        decoy = state.tasks.decoy(self._source.number)
        for name, array in state.tasks.arrays(decoy).items():
            self._source.arrays[name][...] = array
        state.seam.task_of_input.setdefault(state.tasks.digest(decoy), self.task)
        state.judge.overwritten(self.task)
        state.recorder.record("input-overwritten", self.task)

    def overwrite_output(self) -> None:
        """Write over the delivered output, recorded with whether that was refused."""
        state = self._state
        if state.leaves_out("overwrite", idle=not self._digest):
            return
        refused = not overwrite(self._value)
        if not refused:
            self._overwritten, self._digest = str(self.delivered).partition(" ")[2], ""
        state.recorder.record("output-overwritten", self.task, attrs={"refused": refused})

    def recheck(self) -> None:
        """Digest the delivered output again."""
        if self._state.leaves_out("recheck", idle=not self._digest):
            return
        same = self._state.judge.digest(self._value) == self._digest
        self._state.recorder.record("output-rechecked", self.task, attrs={"same": same})

    def on_done(self, body: Callable[[], object]) -> None:
        """Add a done-callback, recorded with what it finds and how it ends."""
        if self._state.leaves_out("on-done", idle=self.future is None):
            return
        recorder = self._state.recorder

        def callback(future: Any) -> None:
            call = recorder.next_call()
            recorder.record("callback-begin", self.task, attrs={"call": call, "done": bool(future.done())})
            answer = "raised"
            try:
                body()
                answer = "returned"
            finally:
                recorder.record("callback-end", self.task, attrs={"call": call, "answer": answer})

        call = recorder.next_call()
        recorder.record("add-callback-begin", self.task, attrs={"call": call})
        self.future.add_done_callback(callback)
        recorder.record("add-callback-end", self.task, attrs={"call": call})

    def _observe(self, timeout: float | None) -> Outcome:
        future = self.future
        try:
            value = self._state.decode(future.result(timeout))
        except concurrent.futures.CancelledError:
            return Outcome("CANCELLED")
        except (Exception, WorkerDeathError) as error:  # noqa: BLE001 - how a task failed is data
            if isinstance(error, TimeoutError) and not _is_outcome(future, error):
                return Outcome("TIMED_OUT")
            self._error = error
            return Outcome(outcome_kind(error), type(error).__name__)
        if self.delivered is None:
            self._value = value
            self._digest = self._state.judge.digest(value)
        return Outcome("SUCCEEDED", self._overwritten or self._state.judge.output(self.task, value))

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
            if self._state.versioned:
                version = getattr(self.future, "model_version", None)
                attrs["version"] = version and str(version)
                if model := self._state.judge.model_of(self._value):
                    attrs["model"] = model
        elif outcome.kind == "FAILED":
            attrs["error"] = outcome.detail
            attrs["foreign"] = self._names_another_task(str(self._error))
        elif outcome.kind == "EXPIRED":
            kind = getattr(self.future, "expired_kind", None)
            attrs["expired_kind"] = kind and str(kind)
        self._state.recorder.record("deliver", self.task, attrs=attrs)

    def _names_another_task(self, text: str) -> bool:
        """Injected faults put the TaskId that they struck into their text."""
        others = (other for other in self._state.submitted if not self._state.judge.may_share(self.task, other))
        return any(f"[{other}]" in text for other in others)


class ControlledService:
    """See `harness.scenario.ServiceUnderTest`."""

    def __init__(self, state: RunState, service: Any, opener: Callable[[str], Opener]) -> None:
        self._state = state
        self._service: Any = service
        self._opener = opener
        self._takes_drain = _takes_drain(service)
        self._encode = getattr(service, "encode", None)
        self.is_over = False

    @property
    def capacity(self) -> int:
        """How many accepted tasks may wait, -1 for no bound."""
        return self._state.setup.declared_capacity

    @property
    def workers(self) -> int:
        """How many tasks may run at once."""
        return self._state.factory.workers

    def submit(
        self,
        task: Any,
        *,
        request_class: str | None = None,
        deadline: float | None = None,
        priority: int | None = None,
        key: Hashable = None,
        retry_of: Any = None,
        timeout: float | None = None,
        context: int | None = None,
        payload_ref: str | None = None,
    ) -> ControlledClientTask:
        """Submit, recorded with the answer."""
        assert isinstance(task, ControlledInput), "a script submits what script.task() gave"
        state = self._state
        if state.leaves_out("submit"):
            return ControlledClientTask(state, task, left_out=True)
        options = SubmitOptions(
            request_class=request_class,
            deadline=deadline,
            priority=priority,
            key=key,
            retry_of=retry_of,
            timeout=timeout,
            context=context,
            payload_ref=payload_ref,
        )
        handle = ControlledClientTask(state, task)
        state.submitted.append(handle.task)
        state.judge.submitted(handle.task, task.number, set(state.ended))
        self._submit(handle, task, options)
        return handle

    def _submit(self, handle: ControlledClientTask, task: ControlledInput, options: SubmitOptions) -> None:
        state, recorder = self._state, self._state.recorder
        call: Attr = recorder.next_call()
        taken = options.taken_by(state.factory.capabilities)
        begin: dict[str, Attr] = {"call": call, **({"malformed": True} if task.malformed else {})}
        begin |= options.attrs(state.setup, taken, state.keys)
        if "key" in begin and state.setup.overflow(options.request_class or "default") == "coalesce":
            state.judge.joins(handle.task, (begin.get("class"), begin["key"]))
        recorder.record("submit-begin", handle.task, attrs=begin)
        arrays: Any = task.arrays if self._encode is None else self._encode(task.arrays)
        try:
            future = self._service.submit(arrays, **taken)
        except (Exception, WorkerDeathError) as error:  # noqa: BLE001 - a refusal is data
            handle.refused_with = type(error).__name__
            refusal = refusal_attrs(error)
            if "retry_after_ms" in refusal:
                handle.retry_after = float(getattr(error, "retry_after", 0))
            recorder.record("submit-end", handle.task, attrs={"call": call, **refusal})
            return
        end: dict[str, Attr] = {"call": call, "answer": "accepted"}
        if other := recorder.task_of_future.get(id(future)):
            end["future_of"] = other
        if "retry_of" in taken:
            end["linked"] = _links(getattr(future, "retry_of", None), taken["retry_of"])
        handle.future = future
        recorder.task_of_future.setdefault(id(future), handle.task)
        state.handles.append(handle)
        recorder.record("submit-end", handle.task, attrs=end)

    def switch(self, version: str, *, pending: str | None = None, deadline: float | None = None) -> bool:
        """Switch the model, recorded with the answer. What it raises is data."""
        if self._state.leaves_out("switch"):
            return False
        recorder = self._state.recorder
        call = recorder.next_call()
        options: dict[str, Any] = {} if pending is None else {"pending": SwitchPolicy(pending)}
        begin: dict[str, Attr] = {"call": call, "version": version, "pending": pending or "finish"}
        if deadline is not None:
            options["deadline"] = deadline
            begin["deadline_ms"] = round(deadline * 1000)
        recorder.record("model-switch-begin", attrs=begin)
        end: dict[str, Attr] = {"call": call, "answer": "switched"}
        try:
            self._service.switch(self._opener(version), version=version, **options)
        except Exception as error:  # noqa: BLE001 - what a switch raises is data
            end |= {"answer": "refused", "error": type(error).__name__}
        recorder.record("model-switch-end", attrs=end)
        return end["answer"] == "switched"

    def subscriber(self, number: int) -> ControlledSubscriber:
        """A subscriber of the service's own, or else ours."""
        return ControlledSubscriber(self._state, getattr(self._service, "subscriber", FreshSubscriber), number)

    def close(self, *, drain: bool | None = None, deadline: float | None = None, reason: str | None = None) -> None:
        """Close, recorded. What close raises is recorded, not passed on: it is the service's answer."""
        if self._state.leaves_out("close"):
            return
        recorder = self._state.recorder
        call = recorder.next_call()
        self.is_over = True
        options = self._close_options(drain, deadline, reason)
        begin: dict[str, Attr] = {"call": call, "drain": options.get("drain")}
        if "deadline" in options:
            begin["deadline_ms"] = round(options["deadline"] * 1000)
        if "reason" in options:
            begin["reason"] = str(options["reason"])
        recorder.record("service-close-begin", attrs=begin)
        me = current()
        # On a thread of the service's own, in a callback, it can only ask for closing: it would wait for itself.
        reentrant = me is not None and me.role in {"service", "daemon"}
        attrs: dict[str, Attr] = {"call": call, "answer": "returned", "reentrant": reentrant}
        try:
            self._service.close(**options)
        except (Exception, WorkerDeathError) as error:  # noqa: BLE001 - what close raises is data
            attrs |= {"answer": "raised", "error": type(error).__name__}
        if "reason" in options:
            told = getattr(self._service, "close_reason", None)
            attrs["reason"] = told and str(told)
        recorder.record("service-close-end", attrs=attrs)

    def drop(self) -> None:
        """Let go of the service."""
        if self._state.leaves_out("drop"):
            return
        self._state.recorder.record("service-dropped")
        self.is_over = True
        self._service, self._encode = None, None

    def _close_options(self, drain: bool | None, deadline: float | None, reason: str | None) -> dict[str, Any]:  # noqa: FBT001 - an option of the contract
        capabilities = self._state.factory.capabilities
        options: dict[str, Any] = {}
        if drain is not None and self._takes_drain:
            options["drain"] = drain
        if deadline is not None and "close-deadline" in capabilities:
            options["deadline"] = deadline
        if reason is not None and "close-reason" in capabilities:
            options["reason"] = CloseReason(reason)
        return options

    def look(self) -> None:
        """Have the service say how it is, recorded."""
        if not self._state.leaves_out("look"):
            look(self._state, self._service)

    def counters(self) -> object:
        """The service's own counters."""
        return self._service.counters()

    @property
    def health(self) -> str:
        """What the service says of its health."""
        return str(getattr(self._service, "health", ""))


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


def _links(link: Any, first: Any) -> bool:
    """Whether a retry's `retry_of` is the first task: its future, or the identity that the service gave it."""
    return link is not None and (link is first or link == getattr(first, "task_id", None))


def _takes_drain(service: Any) -> bool:
    try:
        return "drain" in inspect.signature(service.close).parameters
    except (TypeError, ValueError):
        return False
