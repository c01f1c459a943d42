"""Watches one execution for the eye: in which line of their code each thread was stopped, and where it went on.

Nothing of it enters the history. It is used for one more replay of a schedule that is known to fail.
"""

from __future__ import annotations

from inspect import currentframe
from types import FrameType

from harness.engine.happens_before import SyncLog
from harness.engine.kernel import Kernel
from harness.engine.threads import Controlled, State, current
from harness.engine.where import own_frame, place_of, text_of
from harness.execution.world import ControlledWorld
from harness.verdict import Stop

__all__ = ["TracedWorld", "Tracer"]

MOST_STOPS = 24
"""Changes noted between two events; a loop that observes nothing would fill pages with the same two lines."""
_HOW = {State.READY: "stops", State.BLOCKED: "waits", State.NATIVE: "calls", State.DONE: "ends"}


class Tracer:
    """What was seen so far. Called on the thread that holds the token."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.stops: list[Stop] = []
        self.lines: dict[str, str] = {}
        self._stood: dict[int, tuple[str, str]] = {}
        self._since_event = 0
        self._taken = _Taken(self)

    def watch(self, kernel: Kernel) -> None:
        """See what this kernel does from now on."""
        kernel.on_switch = self._switched
        kernel.sync = self._taken

    def event(self, frame: FrameType | None) -> None:
        """The next event is about what is done in this frame."""
        self.places.append(self.place(frame))
        self._since_event = len(self.stops)

    def place(self, frame: FrameType | None) -> str:
        """The place of a frame, with its text noted."""
        own = own_frame(frame)
        place = place_of(own)
        if place and place not in self.lines:
            self.lines[place] = text_of(own)
        return place

    def taken_at(self, lock: object) -> str:
        """Where the holder of a lock took it, empty if that was not seen."""
        return self._taken.at.get(id(lock), (None, ""))[1]

    def held_since(self, thread: Controlled) -> list[str]:
        """Where a thread took each lock that it holds now."""
        return [place for lock, place in self._taken.at.values() if getattr(lock, "owner", None) is thread and place]

    def _switched(self, by: Controlled | None, chosen: Controlled) -> None:
        how = "" if by is None else _HOW[by.state]
        place = "" if by is None or by.state is State.DONE else self.place(currentframe())
        if by is not None:
            self._stood[by.number] = (how, place)
        stood = self._stood.get(chosen.number)
        then = "starts" if stood is None else "times out" if chosen.fired and stood[0] == "waits" else "goes on"
        resumes = "" if stood is None else stood[1]
        if len(self.stops) - self._since_event < MOST_STOPS:
            name = "" if by is None else by.name
            self.stops.append(Stop(len(self.places), name, how, place, chosen.name, then, resumes))


class _Taken(SyncLog):
    """The log of synchronisations, which hears of each lock that is taken."""

    __slots__ = ("_tracer", "at")

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self._tracer = tracer
        self.at: dict[int, tuple[object, str]] = {}
        self.note = self._hear

    def _hear(self, entry: tuple[object, object, bool]) -> None:
        _, what, published = entry
        if not published:
            self.at[id(what)] = what, self._tracer.place(currentframe())
        self._log.append(entry)


class TracedWorld(ControlledWorld):
    """A controlled world that tells a tracer of each event: who records one asks for the time."""

    def __init__(self, kernel: Kernel, tracer: Tracer, *, held: bool) -> None:
        super().__init__(kernel, held=held)
        self._tracer = tracer

    def now_ns(self) -> int:
        """As ever, and noted."""
        self._tracer.event(None if current() is None else currentframe())
        return super().now_ns()
