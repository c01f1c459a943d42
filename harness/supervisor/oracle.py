"""Asks for expectations, in a worker process of their own, once for each question."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from harness.oracle.expectations import Expectations
from harness.supervisor.once import Once
from harness.supervisor.process import Worker
from harness.supervisor.staff import Refusal, Staff, send_model
from harness.worker.protocol import ExpectationsParams

if TYPE_CHECKING:
    from adapters.base import ModelFile

__all__ = ["Oracles"]

Answer: TypeAlias = Expectations | Refusal


class Oracles:
    """Expectations by (target, model, seed, tasks), used from the threads of all targets."""

    def __init__(self) -> None:
        self._answers: Once[Answer] = Once()

    def ask(self, staff: Staff, model: ModelFile, seed: int, tasks: int) -> Answer:
        """Return the expectations, or why there are none. A refusal is kept: the same question ends the same way."""
        anonymous = msgspec.structs.replace(staff.target, name="", model="")
        key = msgspec.json.encode((anonymous, model.digest, seed, tasks), order="deterministic")
        return self._answers.get(key, lambda: _compute(staff, model, seed, tasks))


def _compute(staff: Staff, model: ModelFile, seed: int, tasks: int) -> Answer:
    with staff.borrowed("oracle") as worker:
        if not isinstance(worker, Worker):
            return worker
        refusal = send_model(worker, model)
        if refusal is not None:
            return refusal
        return worker.ask("expectations", ExpectationsParams(staff.target, model.digest, seed, tasks), Expectations)
