"""What one controlled execution shares between its script, its clients and its runner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.execution.services import Factory
from harness.execution.tasks import CellTasks, Judge
from harness.observe.recorder import Recorder
from harness.observe.seam import Seam

if TYPE_CHECKING:
    from harness.execution.client import ControlledClientTask

__all__ = ["RunState"]


class RunState:
    """Touched by the thread that holds the token alone. `decode` turns what a future delivers back into arrays."""

    def __init__(self, recorder: Recorder, seam: Seam, tasks: CellTasks, factory: Factory) -> None:
        self.recorder = recorder
        self.seam = seam
        self.tasks = tasks
        self.factory = factory
        self.judge = Judge(tasks, lambda: any(session.on_fallback for session in seam.sessions))
        self.submitted: list[str] = []
        self.ended: set[str] = set()
        self.handles: list[ControlledClientTask] = []
        self.decoder: Any = None

    def decode(self, value: Any) -> Any:
        """Turn a delivered value into arrays, as the service's own `decode` does, if it has one."""
        return value if self.decoder is None else self.decoder(value)
