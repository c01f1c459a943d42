"""Asks for expectations, in a worker process of their own, once for each question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from harness.oracle.expectations import Expectations
from harness.suite.plan import ServiceSpec, TargetSpec
from harness.supervisor.once import Once
from harness.supervisor.process import Worker
from harness.supervisor.staff import Refusal, Staff, send_model
from harness.verdict import Measured
from harness.worker.protocol import ExpectationsParams, MeasureParams

if TYPE_CHECKING:
    from adapters.base import ModelFile

__all__ = ["Oracles", "Question"]

Answer: TypeAlias = Expectations | Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of an oracle beside the target and the model: see `harness.oracle.reference.compute`.

    The `services` are measured in the same worker.
    """

    seed: int
    tasks: int
    shaped: int = 0
    next_model: ModelFile | None = None
    services: tuple[ServiceSpec, ...] = ()

    @property
    def next_digest(self) -> str:
        """The next model's digest, empty for none."""
        return "" if self.next_model is None else self.next_model.digest


class Oracles:
    """Expectations by target, model and question, and what was measured, used from the threads of all targets."""

    def __init__(self) -> None:
        self._answers: Once[Answer] = Once()
        self._measured: Once[Measured] = Once()

    def ask(self, staff: Staff, model: ModelFile, question: Question) -> Answer:
        """Return the expectations, or why there are none. A refusal is kept: the same question ends the same way."""
        asked = (_anonymous(staff), model.digest, question.seed, question.tasks, question.shaped, question.next_digest)
        return self._answers.get(_key(asked), lambda: self._compute(staff, model, question))

    def measured(self, staff: Staff, model: ModelFile, service: ServiceSpec) -> Measured:
        """Return what was measured of a service; of one that no question named it is measured now."""

        def measure() -> Measured:
            with staff.borrowed("oracle") as worker:
                if not isinstance(worker, Worker) or send_model(worker, model) is not None:
                    return Measured()
                return _measure(worker, staff, model, service)

        return self._measured.get(_service_key(staff, model, service), measure)

    def _compute(self, staff: Staff, model: ModelFile, question: Question) -> Answer:
        with staff.borrowed("oracle") as worker:
            if not isinstance(worker, Worker):
                return worker
            for each in (model, question.next_model):
                refusal = None if each is None else send_model(worker, each)
                if refusal is not None:
                    return refusal
            params = ExpectationsParams(
                staff.target, model.digest, question.seed, question.tasks, question.shaped, question.next_digest
            )
            answer = worker.ask("expectations", params, Expectations)
            if isinstance(answer, Expectations):
                # In the same worker: starting one takes longer than to measure.
                for service in question.services:
                    self._measured.get(
                        _service_key(staff, model, service), partial(_measure, worker, staff, model, service)
                    )
            return answer


def _anonymous(staff: Staff) -> TargetSpec:
    return msgspec.structs.replace(staff.target, name="", model="", next_model="")


def _service_key(staff: Staff, model: ModelFile, service: ServiceSpec) -> bytes:
    return _key((_anonymous(staff), model.digest, service))


def _key(asked: object) -> bytes:
    return msgspec.json.encode(asked, order="deterministic")


def _measure(worker: Worker, staff: Staff, model: ModelFile, service: ServiceSpec) -> Measured:
    """An agent that does not know how, or a service that ends the process, leaves the receipt without it."""
    answer = worker.ask("measure", MeasureParams(staff.target, model.digest, service), Measured)
    return answer if isinstance(answer, Measured) else Measured()
