"""Starts workers for one target and gives them what they need before they are asked for results."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from harness.supervisor.death import Death
from harness.supervisor.process import Worker, worker_command
from harness.supervisor.switch import StopSwitch
from harness.worker.protocol import (
    CHUNK_BYTES,
    PROTOCOL_VERSION,
    AdapterParams,
    ErrorReport,
    Hello,
    HelloParams,
    ModelParams,
    ModelReceived,
    Probe,
    Role,
)

if TYPE_CHECKING:
    from adapters.base import ModelFile
    from harness.suite.plan import TargetSpec

__all__ = ["Refusal", "Staff", "send_model"]

Refusal: TypeAlias = ErrorReport | Death
"""Why there is no answer: the worker said so, or it ended."""


class Staff:
    """Workers for one target. Used from one thread.

    `instrument` names the packages that a search must see into, `core` counts the core that the workers prefer.
    """

    def __init__(
        self,
        target: TargetSpec,
        hang_after_s: float,
        switch: StopSwitch,
        instrument: tuple[str, ...] = (),
        core: int = 0,
    ) -> None:
        self.target = target
        self._instrument = instrument
        self._core = core
        self.hang_after_s = hang_after_s
        self._switch = switch

    @property
    def stopped(self) -> bool:
        """Whether the run is to end."""
        return self._switch.pulled

    def stop(self) -> None:
        """End the run, and every worker in it: what was asked for cannot be run."""
        self._switch.pull()

    def start(self, role: Role) -> Worker | Refusal:
        """Start a worker and greet it. Raises WorkerStartError where the command does not exist."""
        worker = Worker(worker_command(self.target.python, self.target.command), self.hang_after_s, self._core)
        self._switch.add(worker)
        hello = worker.ask("hello", HelloParams(PROTOCOL_VERSION, role, self._instrument), Hello)
        if isinstance(hello, Hello):
            return worker
        self.dismiss(worker)
        return hello

    def dismiss(self, worker: Worker) -> None:
        """Stop a worker, whether it lives or not."""
        worker.stop()
        self._switch.remove(worker)

    @contextmanager
    def borrowed(self, role: Role) -> Generator[Worker | Refusal]:
        """A worker for the length of a block."""
        worker = self.start(role)
        try:
            yield worker
        finally:
            if isinstance(worker, Worker):
                self.dismiss(worker)

    def probe(self) -> Probe | Refusal:
        """Ask a fresh worker what the target's adapter finds; loading a runtime may itself crash."""
        with self.borrowed("oracle") as worker:
            if not isinstance(worker, Worker):
                return worker
            return worker.ask("probe", AdapterParams(self.target.adapter), Probe)


def send_model(worker: Worker, model: ModelFile) -> Refusal | None:
    """Send a model's bytes in pieces. None when the worker has it whole."""
    digest, size = model.digest, len(model.data)
    for offset in range(0, max(size, 1), CHUNK_BYTES):
        piece = model.data[offset : offset + CHUNK_BYTES]
        params = ModelParams(digest, model.name, model.suffix, size, offset, piece)
        received = worker.ask("model", params, ModelReceived)
        if not isinstance(received, ModelReceived):
            return received
    return None
