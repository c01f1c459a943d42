"""What is left when nobody can move any more: who waits for what, who goes on for ever, who outlived the service."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.engine.kernel import Kernel
from harness.engine.threads import Controlled, State
from harness.engine.where import place_of
from harness.execution.tracer import Tracer
from harness.execution.waiting import OUTCOME, SPINNING, Letters, Wait, is_idle_executor_worker, name_in, wait_of
from harness.history import Event
from harness.observe.recorder import Recorder
from harness.verdict import Finding

__all__ = ["AtRest", "note_stuck"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRest:
    """One line for each thread that could not end, and a finding for each that outlived its service's close()."""

    blocked: tuple[str, ...]
    left: tuple[Finding, ...]


def note_stuck(kernel: Kernel, recorder: Recorder, tracer: Tracer | None) -> AtRest:
    """Record a `stuck` event for each thread that can never end. Called when nobody runs.

    A thread that polls with a time-out goes on for ever too: the execution came to rest because nothing came of it.
    """
    letters = Letters()
    waits = [(thread, wait) for thread in kernel.threads if (wait := _wait(kernel, thread, letters)) is not None]
    events = recorder.history("controlled").events if waits else ()
    tasks, closed = _open_waits(events), _closed(events)
    blocked: list[str] = []
    left: list[Finding] = []
    for thread, wait in waits:
        what = f"the outcome of {tasks[thread.name]}" if wait.what == OUTCOME and thread.name in tasks else wait.what
        # An executor's idle worker is no daemon, but the interpreter ends it all the same.
        role = "daemon" if is_idle_executor_worker(thread.baton.frame()) else thread.role
        recorder.record_of(thread.name, "stuck", {"waits_for": what, "holder": wait.holder, "role": role})
        doing = _doing(thread, wait, what, tracer)
        blocked.append(f"{thread.name} {doing}")
        if closed and role == "daemon":
            text = f"a thread of the service is still alive after close() returned: it {_at(thread, wait, what)}"
            left.append(Finding("thread-left", text))
    return AtRest(blocked=tuple(blocked), left=tuple(left))


def _wait(kernel: Kernel, thread: Controlled, letters: Letters) -> Wait | None:
    if thread.role == "harness":
        return None
    if thread in kernel.spinning or (thread.state is State.BLOCKED and thread.deadline_ns is not None):
        return Wait(what=SPINNING)
    return wait_of(thread, letters) if thread.state is State.BLOCKED else None


def _doing(thread: Controlled, wait: Wait, what: str, tracer: Tracer | None) -> str:
    """What a thread does for ever, for a person. In the replay for the eye with names, and with what is held since."""
    if tracer is None:
        return _at(thread, wait, what) + _held(thread, wait, "")
    frame = thread.baton.frame()
    tracer.places[-1] = tracer.place(frame)
    held = tracer.held_since(thread)
    if wait.what == SPINNING and held:
        return f"{_at(thread, wait, what)}, with a lock in hand since {' and '.join(held)}"
    name = name_in(frame, wait.thing)
    return _at(thread, wait, what, f" ({name})" if name else "") + _held(thread, wait, tracer.taken_at(wait.lock))


def _at(thread: Controlled, wait: Wait, what: str, name: str = "") -> str:
    place = place_of(thread.baton.frame()) or "a place in the library"
    if wait.what == SPINNING:
        return f"goes on for ever at {place} and nothing comes of it"
    return f"waits for {what}{name} at {place}"


def _held(thread: Controlled, wait: Wait, since: str) -> str:
    if wait.lock is None or not wait.holder:
        return ""
    holder = "itself" if wait.holder == thread.name else wait.holder
    return f", held by {holder}{since and f' since {since}'}"


def _open_waits(events: Iterable[Event]) -> dict[str, str]:
    """The task whose result each thread waits for."""
    waits: dict[str, str] = {}
    for event in events:
        if event.kind == "wait-begin" and event.task is not None:
            waits[event.thread] = event.task
        elif event.kind == "wait-end":
            waits.pop(event.thread, None)
    return waits


def _closed(events: Iterable[Event]) -> bool:
    """Whether the service was closed, and every close() has returned."""
    begun = ended = 0
    for event in events:
        begun += event.kind == "service-close-begin"
        ended += event.kind == "service-close-end" and event.attrs["answer"] == "returned"
    return begun == ended > 0
