"""The stop switch: what Ctrl-C and SIGTERM pull."""

from __future__ import annotations

from harness.supervisor.process import Worker

__all__ = ["StopSwitch"]


class StopSwitch:
    """Stops a run from a signal handler: no new worker starts, the living ones are killed, and what is left is NOT_RUN.

    Takes no lock, because a signal handler may run while its own thread holds one: single dict operations are atomic.
    """

    def __init__(self) -> None:
        self._pulled = False
        self._workers: dict[int, Worker] = {}

    @property
    def pulled(self) -> bool:
        """Whether the run is to end."""
        return self._pulled

    def add(self, worker: Worker) -> None:
        """Register a living worker. One that comes after the switch was pulled is killed at once."""
        self._workers[worker.pid] = worker
        if self._pulled:
            worker.kill()

    def remove(self, worker: Worker) -> None:
        """Forget a worker that has been reaped."""
        self._workers.pop(worker.pid, None)

    def pull(self) -> None:
        """Stop. May be called from any thread and from a signal handler, and more than once."""
        self._pulled = True
        for worker in list(self._workers.values()):
            worker.kill()
