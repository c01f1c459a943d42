"""What the checkers read: one history, arranged once, so that each of them need not search it again.

How `History.precedes` appears here. An event that is no `-begin` precedes an event that is no `-end` if its `seq` is
smaller, in both modes, so checkers compare `seq` for such pairs. For every other pair only a controlled execution knows
the order: checkers then ask `controlled`, or call `precedes`.

Two calls at the session seam overlap if neither's end precedes the other's begin. That is evidence under stress too: a
seam records a begin after the service made the call and an end before the call returns to the service, so that a
service which lets its calls follow one another always has the first end recorded before the second begin.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import msgspec

from harness.history import Attr, Event, History

__all__ = [
    "DEFAULT_CLASS",
    "FOREVER",
    "INJECTED",
    "NS_PER_MS",
    "Call",
    "Index",
    "RequestClass",
    "Run",
    "Session",
    "Task",
    "whole",
]

FOREVER = sys.maxsize
"""The `seq` of what never happened, and the time of what never will."""
DEFAULT_CLASS = "default"
INJECTED = "injected:"
"""How an `output` begins that is what a fault made the runtime give to this task."""
NS_PER_MS = 1_000_000


def whole(value: Attr, otherwise: int) -> int:
    """An attribute that is a number, or what to take where there is none."""
    return value if isinstance(value, int) else otherwise


class Call(msgspec.Struct, frozen=True):
    """One call. `end` is None if it never returned."""

    begin: Event
    end: Event | None

    def answered(self, answer: str) -> bool:
        """Whether the call returned with this answer."""
        return self.end is not None and self.end.attrs["answer"] == answer

    @property
    def granted(self) -> bool:
        """Whether a cancel answered True."""
        return self.end is not None and self.end.attrs["answer"] is True


class Run(msgspec.Struct):
    """One run on a session: bind, invoke and fetch with one call number.

    `over` is the `seq` of the last step's end, or FOREVER while a step is in flight. A run whose service gave it up
    between two steps is over at the last of them: nothing native is in flight, and nobody will go on with it.
    """

    first: Event
    last: Event
    last_begin: Event
    over: int = FOREVER
    bind_begin: Event | None = None
    bind_end: Event | None = None
    invoke_begin: Event | None = None
    invoke_end: Event | None = None

    @property
    def what(self) -> str:
        """How a message names the run: by its task, or by its input being nobody's."""
        return self.first.task or "a run on an input that nobody submitted"

    @property
    def stray(self) -> bool:
        """Whether the runtime got an input that nobody submitted, so that any task may be behind it."""
        if self.first.task is not None:
            return False
        return self.bind_end is None or bool(self.bind_end.attrs.get("reached_runtime", True))


class RequestClass(msgspec.Struct, frozen=True):
    """What was declared for one class of requests: -1 is no bound of its own, no time-out.

    `overflow` is what a full queue does with a request of the class, empty where nobody says.
    """

    overflow: str = ""
    capacity: int = -1
    floor_percent: int = 0
    weight_percent: int = 100


class Session(msgspec.Struct):
    """One session: its opening, its runs in order of their first event, every close, and every `resize` asked for."""

    name: str
    exclusive: bool = True
    opened: Call | None = None
    runs: list[Run] = []
    closes: list[Call] = []
    resizes: list[Call] = []


class Task(msgspec.Struct):
    """One submitted task and everything that was observed of it, each list in order of `seq`."""

    id: str
    submit: Call
    accepted: bool
    malformed: bool
    cancels: list[Call] = []
    delivers: list[Event] = []
    runs: list[Run] = []
    pending: Event | None = None
    dequeued: Event | None = None
    overwritten: Event | None = None
    ended: Event | None = None

    @property
    def request_class(self) -> str:
        """The class that it was submitted in."""
        return str(self.submit.begin.attrs.get("class") or DEFAULT_CLASS)

    @property
    def key(self) -> tuple[str, Attr] | None:
        """The class and the key that it was submitted with, None for no key."""
        key = self.submit.begin.attrs.get("key")
        return None if key is None else (self.request_class, key)

    @property
    def priority(self) -> int:
        """The priority in force, 0 where nobody gave one."""
        return whole(self.submit.begin.attrs.get("priority"), 0)

    @property
    def due(self) -> tuple[int, int] | None:
        """The earliest and the latest moment, in nanoseconds, that its deadline can mean; None for no deadline.

        It counts from a moment inside the submit. One that has not returned may count from any later moment.
        """
        deadline = self.submit.begin.attrs.get("deadline_ms")
        if not isinstance(deadline, int):
            return None
        end = self.submit.end
        after = deadline * NS_PER_MS
        return self.submit.begin.at_ns + after, FOREVER if end is None else end.at_ns + after

    @property
    def outcome(self) -> str:
        """How the task ended, as first observed; empty if nobody saw it end."""
        return str(self.delivers[0].attrs["outcome"]) if self.delivers else ""

    @property
    def input_ambiguous(self) -> bool:
        """Whether the caller overwrote the input before the submit had returned: either may be what was submitted."""
        end = self.submit.end
        return self.overwritten is not None and (end is None or end.seq > self.overwritten.seq)


class Index:
    """A read-only view of one history. Building it raises whatever a history that breaks the vocabulary makes it raise.

    `closed_at` is the end of the first close() that returned on a thread that the service need not join, None if there
    is none. `quiescent` says that the execution came to rest, so that what has not happened never will. `rests` are the
    moments before that at which nobody could move and no time-out was pending.
    """

    __slots__ = (
        "cancels",
        "classes",
        "closed_at",
        "closes",
        "controlled",
        "history",
        "kinds",
        "opens",
        "quiescent",
        "rests",
        "runs",
        "service_opens",
        "sessions",
        "submits",
        "tasks",
        "waits",
    )

    def __init__(self, history: History) -> None:
        self.history = history
        self.controlled = history.mode == "controlled"
        self.kinds = _by_kind(history.events if self.controlled else sorted(history.events, key=_seq))
        self.quiescent = "quiescent" in self.kinds
        self.rests = sorted((*self.of("at-rest"), *self.of("gate-opened")), key=_seq)
        self.submits = self.calls("submit")
        self.cancels = self.calls("cancel")
        self.waits = self.calls("wait")
        self.service_opens = self.calls("service-open")
        self.classes = self._classes()
        self.closes = self.calls("service-close")
        self.opens = self.calls("session-open")
        self.closed_at = self._closed_at()
        self.runs = _runs(self.kinds)
        self.tasks = self._tasks()
        self.sessions = self._sessions()

    def of(self, kind: str) -> Sequence[Event]:
        """The events of one kind, in order of `seq`."""
        return self.kinds.get(kind, ())

    def calls(self, kind: str) -> list[Call]:
        """The calls of one kind, in order of their begins."""
        begins = self.kinds.get(kind + "-begin")
        if begins is None:
            return []
        ends = {event.attrs["call"]: event for event in self.kinds.get(kind + "-end", ())}
        return [Call(event, ends.get(event.attrs["call"])) for event in begins]

    def service(self, attr: str) -> bool | int | str | None:
        """What the service declared when it was opened; None if it was not, or did not say."""
        opens = self._live_services or self.service_opens
        return opens[0].begin.attrs.get(attr) if opens else None

    def request_class(self, name: str) -> RequestClass:
        """What was declared for a class of this name, by itself or for the service."""
        return self.classes.get(name) or RequestClass(self._overflow)

    @property
    def several_services(self) -> bool:
        """Whether more than one service was alive, so that nobody can say whose a submit, a close or a session is."""
        return len(self.service_opens) > 1 and len(self._live_services) > 1

    @property
    def _live_services(self) -> list[Call]:
        return [call for call in self.service_opens if not call.answered("error")]

    @property
    def _overflow(self) -> str:
        declared = self.service("overflow")
        if isinstance(declared, str):
            return declared
        return "reject" if whole(self.service("capacity"), -1) >= 0 else ""

    def _classes(self) -> dict[str, RequestClass]:
        return {
            str(event.attrs["class"]): RequestClass(
                str(event.attrs["overflow"]),
                whole(event.attrs["capacity"], -1),
                whole(event.attrs["floor_percent"], 0),
                whole(event.attrs.get("weight_percent"), 100),
            )
            for event in self.of("request-class")
        }

    def _closed_at(self) -> Event | None:
        for end in self.kinds.get("service-close-end", ()):
            if end.attrs["answer"] == "returned" and not end.attrs.get("reentrant"):
                return end
        return None

    def _tasks(self) -> dict[str, Task]:
        tasks: dict[str, Task] = {}
        for call in self.submits:
            name = _named(call.begin.task)
            malformed = bool(call.begin.attrs.get("malformed"))
            tasks[name] = Task(name, call, call.answered("accepted"), malformed)
        for call in self.cancels:
            tasks[_named(call.begin.task)].cancels.append(call)
        for run in self.runs:
            if run.first.task in tasks:
                tasks[run.first.task].runs.append(run)
        self._add_marks(tasks)
        return tasks

    def _add_marks(self, tasks: dict[str, Task]) -> None:
        kinds = self.kinds
        for event in kinds.get("deliver", ()):
            tasks[_named(event.task)].delivers.append(event)
        for event in kinds.get("pending", ()):
            tasks[_named(event.task)].pending = event
        for event in kinds.get("dequeue", ()):
            # A service may tell of a task whose submit never returned: nobody knows its TaskId then.
            if event.task in tasks:
                tasks[event.task].dequeued = event
        for event in kinds.get("ended", ()):
            if event.task in tasks:
                tasks[event.task].ended = event
        for event in kinds.get("input-overwritten", ()):
            tasks[_named(event.task)].overwritten = event

    def _sessions(self) -> dict[str, Session]:
        sessions: dict[str, Session] = {}
        for call in self.opens:
            name = call.begin.session or (call.end and call.end.session)
            if name:
                exclusive = call.end is None or call.end.attrs.get("sharing") != "concurrent-run"
                sessions[name] = Session(name, exclusive, call)
        for run in self.runs:
            name = _named(run.first.session)
            if name not in sessions:
                sessions[name] = Session(name)
            sessions[name].runs.append(run)
        for call in self.calls("session-close"):
            name = _named(call.begin.session)
            if name not in sessions:
                sessions[name] = Session(name)
            sessions[name].closes.append(call)
        for call in self.calls("resize"):
            name = _named(call.begin.session)
            sessions.setdefault(name, Session(name)).resizes.append(call)
        return sessions


def _seq(event: Event) -> int:
    return event.seq


def _named(name: str | None) -> str:
    if name is None:
        message = "an event that needs a task or a session names none"
        raise LookupError(message)
    return name


def _by_kind(events: Sequence[Event]) -> dict[str, list[Event]]:
    kinds: dict[str, list[Event]] = {}
    for event in events:
        kind = event.kind
        if kind in kinds:
            kinds[kind].append(event)
        else:
            kinds[kind] = [event]
    return kinds


def _runs(kinds: dict[str, list[Event]]) -> list[Run]:
    runs: dict[object, Run] = {}
    for step in ("bind", "invoke", "fetch"):
        _add_begins(runs, step, kinds.get(step + "-begin", ()))
        _add_ends(runs, step, kinds.get(step + "-end", ()))
    return sorted(runs.values(), key=_first) if len(kinds.get("bind-begin", ())) != len(runs) else list(runs.values())


def _first(run: Run) -> int:
    return run.first.seq


def _add_begins(runs: dict[object, Run], step: str, events: Sequence[Event]) -> None:
    for event in events:
        call = event.attrs["call"]
        run = runs.get(call)
        if run is None:
            run = runs[call] = Run(event, event, event)
        elif event.seq > run.last.seq:
            run.last = run.last_begin = event
            run.over = FOREVER
        if step == "bind":
            run.bind_begin = event
        elif step == "invoke" and run.invoke_begin is None:
            run.invoke_begin = event


def _add_ends(runs: dict[object, Run], step: str, events: Sequence[Event]) -> None:
    for event in events:
        run = runs[event.attrs["call"]]
        if event.seq > run.last.seq:
            run.last = event
            run.over = event.seq
        if step == "bind":
            run.bind_end = event
        elif step == "invoke":
            run.invoke_end = event
