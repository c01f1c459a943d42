"""What one controlled execution shares between its script, its clients and its runner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.engine.threads import Controlled, current
from harness.execution.configuration import Setup
from harness.execution.services import Factory
from harness.execution.tasks import CellTasks, Judge
from harness.observe.recorder import Recorder
from harness.observe.seam import Seam

if TYPE_CHECKING:
    from harness.execution.client import ControlledClientTask

__all__ = ["RunState", "Step"]


class Step(NamedTuple):
    """One step that an actor made: its kind, and its number among the actor's, counted from 0. Actor 0 is the script.

    Kinds are actor (the start of one), submit, cancel, result, close, overwrite, recheck, arm, sleep, on-done, switch,
    follow and subscriber (what one is told), look, drop, and end for the close that every script ends with.
    """

    actor: int
    number: int
    kind: str


class RunState:
    """Touched by the thread that holds the token alone. `decode` turns what a future delivers back into arrays.

    `leave_out` are steps, by actor and number, that this execution does not make; `left_out` those it came to.
    `versioned`: what a future says of its model's version is recorded.
    `setup` is what the service was opened with; `keys` numbers the keys that were submitted.
    """

    def __init__(
        self,
        recorder: Recorder,
        seam: Seam,
        tasks: CellTasks,
        factory: Factory,
        leave_out: frozenset[tuple[int, int]] = frozenset(),
    ) -> None:
        self.recorder = recorder
        self.seam = seam
        self.tasks = tasks
        self.factory = factory
        self.judge = Judge(tasks, lambda: any(session.on_fallback for session in seam.sessions), seam.altered)
        self.submitted: list[str] = []
        self.ended: set[str] = set()
        self.handles: list[ControlledClientTask] = []
        self.decoder: Any = None
        self.versioned = False
        self.setup = Setup(factory=factory, capacity=factory.spec.capacity)
        self.keys: dict[Hashable, int] = {}
        self.leave_out = leave_out
        self.left_out: list[tuple[int, int]] = []
        self.made: list[Step] = []
        self.ending = False
        self._actors: dict[int, int] = {}
        self._steps: Counter[int] = Counter()

    def actor_starts(self, thread: Controlled) -> None:
        """Number an actor: the script first, then in the order in which they are started."""
        self._actors.setdefault(thread.number, len(self._actors))

    def leaves_out(self, kind: str, *, idle: bool = False) -> bool:
        """Count a step of the calling actor, and say whether it is not made. `idle`: it does nothing in any case."""
        me = current()
        if me is None or me.role != "actor":
            return idle
        self.actor_starts(me)
        actor = self._actors[me.number]
        number = self._steps[actor]
        self._steps[actor] += 1
        if self.ending:
            self.made.append(Step(actor, number, "end"))
        elif (actor, number) in self.leave_out:
            self.left_out.append((actor, number))
            return True
        elif not idle:
            self.made.append(Step(actor, number, kind))
        return idle

    def decode(self, value: Any) -> Any:
        """Turn a delivered value into arrays, as the service's own `decode` does, if it has one."""
        return value if self.decoder is None else self.decoder(value)
