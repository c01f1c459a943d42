"""What a worker does when it is asked. What may load native code is imported only here, and only when asked for."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import metadata
from typing import TYPE_CHECKING, TypeAlias

from harness.worker.loop import Emit, Operation, OperationError, operation
from harness.worker.protocol import (
    PROTOCOL_VERSION,
    AdapterParams,
    CellParams,
    DescribeParams,
    Description,
    ExpectationsParams,
    Hello,
    HelloParams,
    MeasureParams,
    ModelParams,
    ModelReceived,
    NeighbourParams,
    NeighbourReady,
    Probe,
    ReplayParams,
    ScenarioRecord,
    ShareParams,
)

if TYPE_CHECKING:
    from adapters.base import ModelFile
    from harness.execution.replay import ReplayReport
    from harness.execution.share import ShareReport
    from harness.observe.neighbour import Look
    from harness.oracle.expectations import Expectations
    from harness.scenario import Scenario
    from harness.verdict import CellResult, DeviceRecord, Measured
    from harness.worker.neighbour import NeighbourSession

    _Parts: TypeAlias = tuple[ModelFile, Scenario, ModelFile | None, Emit | None]

__all__ = ["operations"]


def operations() -> Mapping[str, Operation]:
    """The operations of a real worker, by name. They share the models that the supervisor has sent."""
    models = _Models()
    return {
        "hello": operation(HelloParams, _hello),
        "probe": operation(AdapterParams, _probe),
        "device": operation(dict, _device),
        "describe": operation(DescribeParams, _describe),
        "model": operation(ModelParams, models.receive),
        "expectations": operation(ExpectationsParams, models.expectations),
        "measure": operation(MeasureParams, models.measure),
        "cell": operation(CellParams, models.cell),
        "share": operation(ShareParams, models.share),
        "replay": operation(ReplayParams, models.replay),
        "neighbour": operation(NeighbourParams, models.neighbour),
        "look": operation(dict, models.look),
    }


def _hello(params: HelloParams, _emit: Emit) -> Hello:
    if params.protocol != PROTOCOL_VERSION:
        message = f"this worker speaks protocol {PROTOCOL_VERSION}, not {params.protocol}"
        raise OperationError(kind="protocol", error_class="ProtocolVersion", message=message)
    if params.role == "cells":
        from harness.engine.compiling import StaleCoreError  # noqa: PLC0415 - never in an oracle worker
        from harness.engine.install import install  # noqa: PLC0415

        try:
            install()
        except StaleCoreError as error:
            raise OperationError(kind="usage", error_class=type(error).__name__, message=str(error)) from error
        if params.instrument:
            from harness.engine.instrument.loader import Instrumenter  # noqa: PLC0415 - where it is asked for

            Instrumenter(params.instrument).activate()
    return Hello(PROTOCOL_VERSION, _version(), platform.python_version(), f"{sys.platform}-{platform.machine()}")


def _version() -> str:
    try:
        return metadata.version("racegate")
    except metadata.PackageNotFoundError:
        return "0+source"


def _probe(params: AdapterParams, _emit: Emit) -> Probe:
    from harness.models.registry import UnknownAdapterError, load_adapter  # noqa: PLC0415 - after hello

    try:
        adapter = load_adapter(params.adapter)
    except UnknownAdapterError as error:
        raise OperationError(kind="usage", error_class=type(error).__name__, message=_one_line(error)) from error
    found = adapter.probe()
    return Probe(found.importable, found.version, found.build, found.delegates, found.why_not, found.install)


def _device(_params: dict[str, object], _emit: Emit) -> DeviceRecord:
    from harness.worker.device import describe_device  # noqa: PLC0415 - after hello

    return describe_device()


def _describe(params: DescribeParams, _emit: Emit) -> Description:
    from harness.execution.services import describe  # noqa: PLC0415 - imports the user's service

    with _usage_errors("service"):
        service = describe(params.service)
    return Description(service, tuple(_record(reference) for reference in params.scenarios))


def _record(reference: str) -> ScenarioRecord:
    from harness.execution.arming import may_strike  # noqa: PLC0415 - after hello

    found = _scenario(reference)
    tasks = max(1, found.tasks)
    return ScenarioRecord(
        reference, found.digest, found.requires, found.exercises, found.native, tasks, may_strike(found)
    )


def _scenario(reference: str) -> Scenario:
    from scenarios.catalogue import load  # noqa: PLC0415 - imports the user's scenario

    with _usage_errors("scenario"):
        return load(reference)


class _Models:
    """The models this worker was sent, by digest, and the operations that need one."""

    def __init__(self) -> None:
        self._partial: dict[str, bytearray] = {}
        self._whole: dict[str, ModelFile] = {}
        self._neighbour: NeighbourSession | None = None

    def receive(self, params: ModelParams, _emit: Emit) -> ModelReceived:
        from adapters.base import ModelFile  # noqa: PLC0415 - after hello

        data = self._partial.setdefault(params.digest, bytearray())
        if params.offset != len(data):
            raise OperationError(
                kind="protocol", error_class="ModelOffset", message=f"expected offset {len(data)}, got {params.offset}"
            )
        data += params.data
        if len(data) < params.size:
            return ModelReceived(len(data), complete=False)
        whole = bytes(self._partial.pop(params.digest))
        if hashlib.sha256(whole).hexdigest() != params.digest:
            raise OperationError(
                kind="protocol", error_class="ModelDigest", message="the model's bytes do not have the digest announced"
            )
        self._whole[params.digest] = ModelFile(name=params.name, suffix=params.suffix, data=whole)
        return ModelReceived(len(whole), complete=True)

    def expectations(self, params: ExpectationsParams, emit: Emit) -> Expectations:
        from harness.oracle.reference import compute  # noqa: PLC0415 - after hello

        model = self._model(params.model_digest)
        following = self._next(params.next_digest)
        with _target_errors():
            return compute(
                params.target,
                model,
                params.seed,
                params.tasks,
                shaped=params.shaped,
                next_model=following,
                progress=emit,
            )

    def measure(self, params: MeasureParams, _emit: Emit) -> Measured:
        from harness.execution.measure import measure  # noqa: PLC0415 - after hello

        model = self._model(params.model_digest)
        with _target_errors(), _usage_errors("service"):
            return measure(params.target, params.service, model)

    def cell(self, params: CellParams, emit: Emit) -> CellResult:
        from harness.execution.cell import run_cell  # noqa: PLC0415 - after hello

        model, scenario, following, neighbour = self._parts(params, emit)
        with _target_errors():
            return run_cell(params.cell, scenario, model, params.expectations, emit, following, neighbour)

    def share(self, params: ShareParams, emit: Emit) -> ShareReport:
        from harness.execution.cell import run_share  # noqa: PLC0415 - after hello

        model, scenario, following, neighbour = self._parts(params, emit)
        with _target_errors():
            return run_share(
                params.cell, scenario, model, params.expectations, emit, params.share, following, neighbour
            )

    def replay(self, params: ReplayParams, emit: Emit) -> ReplayReport:
        from harness.execution.replay import CannotReplayError, replay  # noqa: PLC0415 - after hello

        model, scenario, following, neighbour = self._parts(params, emit)
        wanted = (params.expectations, params.schedule, params.times)
        try:
            with _target_errors():
                return replay(params.cell, scenario, model, *wanted, emit, following, neighbour)
        except CannotReplayError as error:
            raise OperationError(kind="target", error_class="CannotReplay", message=_one_line(error)) from error

    def _parts(self, params: CellParams | ShareParams | ReplayParams, emit: Emit) -> _Parts:
        """What each of these runs a cell with, beside what it was sent."""
        model = self._model(params.cell.model_digest)
        scenario = _scenario(params.cell.scenario)
        following = self._next(params.expectations.next_digest)
        return model, scenario, following, emit if params.watched else None

    def neighbour(self, params: NeighbourParams, _emit: Emit) -> NeighbourReady:
        from harness.worker.neighbour import NeighbourSession  # noqa: PLC0415 - after hello

        model = self._model(params.model_digest)
        if self._neighbour is not None:
            self._neighbour.close()
            self._neighbour = None
        with _target_errors():
            self._neighbour = NeighbourSession(params, model)
        return NeighbourReady()

    def look(self, _params: dict[str, object], _emit: Emit) -> Look:
        if self._neighbour is None:
            raise OperationError(kind="protocol", error_class="NoNeighbour", message="no neighbour session is open")
        return self._neighbour.look()

    def _next(self, digest: str) -> ModelFile | None:
        return self._model(digest) if digest else None

    def _model(self, digest: str) -> ModelFile:
        try:
            return self._whole[digest]
        except KeyError:
            raise OperationError(
                kind="protocol", error_class="UnknownModel", message="the model was not sent first"
            ) from None


@contextmanager
def _usage_errors(what: str) -> Generator[None]:
    """What the user's own file or name gets wrong is the user's to mend, whatever it raised on import."""
    try:
        yield
    except OperationError:
        raise
    except Exception as error:
        said = _one_line(error) or type(error).__name__
        message = said if said.startswith((what, "no ")) else f"{what}: {said}"
        raise OperationError(kind="usage", error_class=type(error).__name__, message=message) from error


@contextmanager
def _target_errors() -> Generator[None]:
    """Tell a model that does not load and a target that does not start from a defect."""
    from adapters.base import AdapterError, ModelLoadError, OptionError, UnavailableError  # noqa: PLC0415 - after hello
    from harness.scenario import ScenarioError  # noqa: PLC0415 - after hello

    try:
        yield
    except ModelLoadError as error:
        raise OperationError(kind="model", error_class=type(error).__name__, message=_one_line(error)) from error
    except UnavailableError as error:
        raise OperationError(kind="unavailable", error_class=type(error).__name__, message=_one_line(error)) from error
    except OptionError as error:
        raise OperationError(
            kind="usage", error_class=type(error).__name__, message=f"target: {_one_line(error)}"
        ) from error
    except AdapterError as error:
        raise OperationError(kind="target", error_class=type(error).__name__, message=_one_line(error)) from error
    except ScenarioError as error:
        raise OperationError(
            kind="usage", error_class=type(error).__name__, message=f"scenario: {_one_line(error)}"
        ) from error


def _one_line(error: Exception) -> str:
    """The error's text as one line, without the folder it ran in."""
    text = " ".join(str(error).split())
    return text.replace(os.getcwd() + os.sep, "")[:400]  # noqa: PTH109 - a string is cut out of a string
