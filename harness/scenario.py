"""The vocabulary of scenarios: a plain function scripts actors, and what it leaves open is explored.

@scenario(exercises=("no-delivery-after-cancel",))
def queued_cancel(script: Script) -> None:
    service = script.open_service()
    gate = script.hold("invoke")
    service.submit(script.task())
    gate.wait(1)
    second = service.submit(script.task())
    second.cancel()
    gate.open()
    service.close()
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, TypeVar, overload

__all__ = [
    "ClassOptions",
    "ClientTask",
    "Gate",
    "Input",
    "KilledJournal",
    "Memory",
    "Outcome",
    "Point",
    "Scenario",
    "ScenarioError",
    "Script",
    "ServiceUnderTest",
    "Subscriber",
    "scenario",
]

Point: TypeAlias = Literal["session-open", "bind", "invoke", "fetch", "session-close"]
Result = TypeVar("Result")
ClassOptions: TypeAlias = Mapping[str, str | int | float | bool | None]
"""What a request class is made with, by the names of `harness.service.config.RequestClass`'s fields."""


class ScenarioError(Exception):
    """The script asks for what this run cannot give, such as more distinct tasks than the oracle knows."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended, as the client saw it.

    `kind` is SUCCEEDED, CANCELLED, FAILED, EXPIRED (its deadline was over), REPLACED (a newer task took its place),
    REFUSED (never accepted) or TIMED_OUT (the wait, not the task); `detail` is the history's `output` for a success,
    and an error class name otherwise.
    """

    kind: str
    detail: str = ""


class Input(Protocol):
    """A task's input: arrays by tensor name, distinct from every other task's of the execution."""

    @property
    def task(self) -> str:
        """The TaskId that the input will have, `t1` and up."""
        ...


class Gate(Protocol):
    """A hold on every session call that reaches one point."""

    def wait(self, calls: int = 1) -> bool:
        """Wait until that many calls stand at the gate; False when they did not come and nobody could move."""
        ...

    def open(self) -> None:
        """Let them go, and hold no more."""


class ClientTask(Protocol):
    """One submitted task as its client holds it. Methods may be called from any actor."""

    @property
    def accepted(self) -> bool:
        """Whether the service took the task."""
        ...

    @property
    def retry_after(self) -> float | None:
        """The hint of a refusal, in seconds; None without one."""
        ...

    def cancel(self) -> bool:
        """Cancel the future and return its answer; False for a task that was never accepted."""
        ...

    def result(self, timeout: float | None = None) -> Outcome:
        """Wait, in virtual seconds, and return how the task ended. None waits as long as it takes."""
        ...

    def overwrite_input(self) -> None:
        """Write a decoy over the caller's own array, as a producer does that reuses its buffer."""

    def overwrite_output(self) -> None:
        """Write over the delivered output, unless it is read-only. What was written to is not looked at again."""

    def recheck(self) -> None:
        """Digest the delivered output again; a difference breaks `output-owned`."""

    def on_done(self, body: Callable[[], object]) -> None:
        """Have `body` called when the future is done, and what it raises go on to the service; needs `callbacks`."""


class KilledJournal(Protocol):
    """A journal of must-finish work as a killed process leaves it, or one that is still written."""

    def references(self) -> tuple[str, ...]:
        """Those of what was accepted and is not finished, in order of acceptance."""
        ...

    def after_a_kill(self) -> KilledJournal:
        """What the next process finds if this one is killed now, in the middle of a line perhaps."""
        ...


class Memory(Protocol):
    """The memory that a service is told of."""

    def use(self, share: float) -> None:
        """From now on that share of the limit is in use."""


class Subscriber(Protocol):
    """Applies results that are fresh: the service's own, where it has a `subscriber`, else `FreshSubscriber`."""

    def follow(self, task: ClientTask, context: int) -> None:
        """Have the task's result applied when it is there, if it is fresh then."""

    def expect(self, context: int) -> None:
        """From now on nothing older is of interest."""

    def switched_to(self, version: str) -> None:
        """From now on this version of the model is current."""


class ServiceUnderTest(Protocol):
    """The service that the cell is about.

    Options are passed on only where they are given and the service declares the capability: `classes` for
    `request_class`, `deadline`, `priority`, `overflow:coalesce` for `key`, `retry-link` for `retry_of`,
    `overflow:block` for `timeout`, `freshness` for `context`, `journal` for `payload_ref`; `drain`, `close-deadline`
    and `close-reason` for those of `close`.
    """

    def submit(
        self,
        task: Input,
        *,
        request_class: str | None = None,
        deadline: float | None = None,
        priority: int | None = None,
        key: Hashable = None,
        retry_of: ClientTask | None = None,
        timeout: float | None = None,
        context: int | None = None,
        payload_ref: str | None = None,
    ) -> ClientTask:
        """Submit; a refusal is an answer, not an error: look at `accepted`. Times are virtual seconds from now."""
        ...

    def switch(self, version: str, *, pending: str | None = None, deadline: float | None = None) -> bool:
        """Switch to another version of the model, and say whether that was done; needs the capability `model_switch`.

        The service was opened with version `v1`. `pending` is `finish` or `cancel`.
        """
        ...

    def close(self, *, drain: bool | None = None, deadline: float | None = None, reason: str | None = None) -> None:
        """Close; an option that the service does not take is left out."""

    def drop(self) -> None:
        """Let go of the service without closing it: what nothing else refers to is collected now. It is not used again.

        Not for a service with a `decode` of its own, which is needed to look at results.
        """

    def look(self) -> None:
        """Have the service say how it is, recorded: its counters, and with `events` its incidents and its evidence.

        Needs the capability `counters`, and `incidents` for the latter. It may look while others use the service.
        """

    def counters(self) -> object:
        """The service's own counters; needs the capability `counters`. Not recorded."""
        ...

    @property
    def health(self) -> str:
        """What the service says of its health; needs the capability `unhealthy`. Empty where it says nothing."""
        ...

    @property
    def capacity(self) -> int:
        """How many accepted tasks may wait, -1 for no bound."""
        ...

    @property
    def workers(self) -> int:
        """How many tasks may run at once."""
        ...


class Script(Protocol):
    """What a scenario works with. Calls come from the scenario's own thread unless it starts actors."""

    def open_service(
        self,
        *,
        capacity: int | None = None,
        fallback: bool = False,
        classes: Mapping[str, ClassOptions] | None = None,
        ordering: str | None = None,
        run_budget: float | None = None,
        abandoned_limit: int | None = None,
        lazy: bool = False,
        health_check: Callable[[], bool] | None = None,
        shapes: bool = False,
        journal: KilledJournal | None = None,
        memory: Memory | None = None,
        most_live: int = 2,
        resident: bool = False,
        events: int = 0,
    ) -> ServiceUnderTest:
        """Build the service with the cell's configuration, or with what is given here.

        `fallback` declares that the CPU path will do where the delegate does not start. `classes` are request classes
        by name, `default` among them or not; `ordering` is `fifo`, `priority`, `earliest-deadline` or `fair-share`.
        `lazy` opens sessions when there is work for them; `health_check` answers for a session in doubt. With `shapes`
        the service takes the shapes of the suite's tasks and what lies between, and plans all but the last ahead.
        With `memory` it stands behind a gate that admits `most_live` requests while less than 75 % is in use, and none
        from 90 % on. A script may open another service once it has closed the one before; where both are `resident`
        they are clients of one model, and may be open at once. `events` is how many entries its event ring holds.
        What a service can be told is said by its capabilities: ask for them with `requires`.
        If the factory raises there is no service: that is recorded, and the script ends here.
        """
        ...

    def subscriber(self) -> Subscriber:
        """A subscriber to the service's results; needs the capability `freshness`."""
        ...

    def task(self, *, malformed: bool = False, shape: int = 0, oversized: bool = False) -> Input:
        """The next task of the suite; `malformed` breaks the contract in a way that the runtime must never see.

        In a scenario that requires `dynamic-shapes` there are four tasks each of `shape` 1, the largest, and 2, one in
        between; an `oversized` input is larger than any that the service is set up for, and malformed in that sense.
        """
        ...

    def again(self, task: Input) -> Input:
        """The same input once more, as another task: `t1` becomes `t1r`. Needed to resume what a kill left."""
        ...

    def journal(self) -> KilledJournal:
        """A journal for work that must finish; needs the capability `journal`."""
        ...

    def memory(self) -> Memory:
        """A memory that half is used of; needs the capability `memory-gate`."""
        ...

    @property
    def workers(self) -> int:
        """How many sessions the service uses, before it is opened."""
        ...

    @property
    def sessions(self) -> int:
        """How many sessions the service has asked for so far, those that failed to open among them."""
        ...

    def actor(self, name: str, body: Callable[[], object]) -> None:
        """Start an actor: a client thread of its own."""

    def join(self) -> None:
        """Wait for every actor started so far."""

    def hold(self, point: Point, calls: int | None = None) -> Gate:
        """Stop every session call (or the next few) at the begin of `point` until the gate is opened."""
        ...

    def arm(
        self,
        fault: str,
        *,
        point: Point | None = None,
        nth: int = 1,
        session: str = "",
        task: Input | None = None,
        persistent: bool = False,
        probability: float = 1.0,
        seed: int = 0,
    ) -> None:
        """Inject `fault` at its point (or this one) the nth time that is reached. `racegate list faults` names them.

        Only calls of this `session` (`s1` is the first that was opened) and this `task` count, where they are given.
        One that strikes inside native code must be among the scenario's `arms`.
        `persistent` strikes from then on. With a `probability` each call from then on is drawn, by `seed` and number.
        """

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""

    def rest(self, seconds: float = 0.0) -> None:
        """Let virtual time pass, and then wait until nobody else can move: whatever was due by then has been done.

        A `sleep` alone says nothing of that: the sleeper may go on before a thread whose time came earlier.
        """

    def expect(self, met: bool, invariant: str, says: str) -> None:  # noqa: FBT001 - reads as an assertion
        """Record an expectation; an unmet one breaks the invariant."""


Body: TypeAlias = Callable[[Script], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A scenario: its script and what it needs.

    `exercises` are the invariants whose premise it makes occur: one that never occurred leaves the cell UNKNOWN.
    `requires` are capabilities of the service; without one the scenario is NOT_APPLICABLE. `tasks` is how many
    distinct inputs it uses. `arms` are the faults inside native code that its script arms: sessions are then opened
    through the native fault library, and where that cannot be the scenario is NOT_APPLICABLE.
    """

    id: str
    body: Body
    exercises: tuple[str, ...]
    requires: tuple[str, ...] = ()
    tasks: int = 4
    native: Literal["atomic", "held"] = "atomic"
    arms: tuple[str, ...] = ()

    @property
    def endless(self) -> bool:
        """Whether its runs are held inside native code by taking minutes, not by a fault that it arms there."""
        return self.native == "held" and not self.arms

    @property
    def source(self) -> str:
        """The source of the module that defines it: a scenario may use functions beside it."""
        return inspect.getsource(inspect.getmodule(self.body) or self.body)

    @property
    def digest(self) -> str:
        """The sha256 over the id and the source, in hex."""
        return hashlib.sha256(f"{self.id}\n{self.source}".encode()).hexdigest()

    @property
    def claim(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.body) or "").partition("\n")[0]


@overload
def scenario(body: Body, /) -> Scenario: ...
@overload
def scenario(
    *,
    exercises: tuple[str, ...],
    requires: tuple[str, ...] = (),
    tasks: int = 4,
    native: Literal["atomic", "held"] = "atomic",
    arms: tuple[str, ...] = (),
) -> Callable[[Body], Scenario]: ...
def scenario(
    body: Body | None = None,
    /,
    *,
    exercises: tuple[str, ...] = ("own-output",),
    requires: tuple[str, ...] = (),
    tasks: int = 4,
    native: Literal["atomic", "held"] = "atomic",
    arms: tuple[str, ...] = (),
) -> Scenario | Callable[[Body], Scenario]:
    """Make a function a scenario; its id is the function's name with hyphens."""

    def decorate(body: Body) -> Scenario:
        name = getattr(body, "__name__", "scenario").strip("_").replace("_", "-")
        return Scenario(
            id=name, body=body, exercises=exercises, requires=requires, tasks=tasks, native=native, arms=arms
        )

    return decorate if body is None else decorate(body)
