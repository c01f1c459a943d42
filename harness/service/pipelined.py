"""A session behind a pipeline: while one task runs, the next is prepared and the one before is finished."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its locks
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ClassVar

import numpy as np

from adapters.base import Arrays, Opener, Session, check_inputs
from harness.service.attempt import private_copy
from harness.service.config import ServiceConfig
from harness.service.hold import Hold
from harness.service.outputs import immutable_outputs
from harness.service.pipeline import Pipeline, Stage
from harness.service.requests import OverflowPolicy

__all__ = ["PipelinedQueue", "dropping_pipeline"]


class PipelinedQueue:
    """Prepare, infer and finish, each on its own thread, over as many sets of input buffers and one session.

    With fewer buffers than stages one of them would wait for another's, with more tasks would only wait elsewhere.
    `prepare` writes a task into a buffer, `infer` runs the session on it, `finish` gives the buffer up; a subclass may
    have other `stages`. As many tasks as `config.capacity` says wait in front of the first stage; what becomes of one
    more is `overflow`. A task can be cancelled until `infer` takes it. The session is opened by whoever makes the
    service, used by the infer stage alone, and closed by the first `close` once the stages have ended. Raises what the
    opener raises, and ValueError for a model with dynamic dimensions: buffers are fixed.
    """

    kind: ClassVar[str] = "queue"
    workers: ClassVar[int] = 1
    capabilities: ClassVar[frozenset[str]] = frozenset({"drain", "pipeline"})

    def __init__(
        self, open_session: Opener, config: ServiceConfig, *, overflow: OverflowPolicy = OverflowPolicy.REJECT
    ) -> None:
        self._lock = threading.Lock()
        session = open_session()
        self._session: Session | None = session
        try:
            stages = self.stages(session)
            self._pipeline = Pipeline(
                stages,
                [_buffer(session) for _ in stages],
                overflow=overflow,
                backlog=config.capacity,
                commits="infer",
            )
        except BaseException:
            session.close()
            raise

    def stages(self, session: Session) -> dict[str, Stage]:
        """The stages in their order, `infer` among them: it alone may use the session."""
        return {"prepare": _prepare(session), "infer": _infer(session), "finish": _finish}

    def submit(self, inputs: Arrays) -> Future[Any]:
        """Accept one task on a private copy. Raises QueueFullError, ServiceClosedError or ContractError."""
        return self._pipeline.submit(private_copy(inputs))

    def close(self, *, drain: bool = True) -> None:
        """End the pipeline, then release the session. On any thread but a stage's."""
        self._pipeline.close(drain=drain)
        with self._lock:  # a second close returns only when the first one has released the session
            session, self._session = self._session, None
            if session is not None:
                session.close()


def dropping_pipeline(open_session: Opener, config: ServiceConfig) -> PipelinedQueue:
    """The pipeline that ends the oldest waiting task as REPLACED where there is no place for a new one."""
    return PipelinedQueue(open_session, config, overflow=OverflowPolicy.REPLACE_OLDEST)


def _buffer(session: Session) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    for spec in session.contract.inputs:
        sizes = tuple(size for size in spec.shape if size is not None)
        if len(sizes) < len(spec.shape):
            message = f"input {spec.name!r} has a dynamic dimension, and a pipeline's buffers are fixed"
            raise ValueError(message)
        arrays[spec.name] = np.zeros(sizes, spec.dtype)
    return arrays


def _prepare(session: Session) -> Callable[[Arrays, Hold], None]:
    contract = session.contract

    def prepare(inputs: Arrays, hold: Hold) -> None:
        check_inputs(contract, inputs)
        for name in hold.names():
            hold[name][...] = inputs[name]

    return prepare


def _infer(session: Session) -> Callable[[None, Hold], Arrays]:
    def infer(_: None, hold: Hold) -> Arrays:
        inputs = {name: hold[name] for name in hold.names()}
        return immutable_outputs(session.run(inputs), fresh=session.fresh_outputs)

    return infer


def _finish(outputs: Arrays, _: Hold) -> Arrays:
    return outputs
