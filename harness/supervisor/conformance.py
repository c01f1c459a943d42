"""Does a command speak the worker protocol? The same checks for our own worker and for an agent in another language."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from harness.supervisor.death import Death
from harness.supervisor.process import Worker
from harness.verdict import DeviceRecord
from harness.worker.protocol import (
    PROTOCOL_VERSION,
    AdapterParams,
    ErrorReport,
    Hello,
    HelloParams,
    ModelParams,
    ModelReceived,
)

__all__ = ["Check", "check"]


class Empty(msgspec.Struct, frozen=True):
    """A result of which nothing is read."""


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement of the protocol. `problem` is empty where it is met."""

    name: str
    problem: str


def check(command: Sequence[str], hang_after_s: float = 30.0) -> tuple[Check, ...]:
    """Run every check, each on a worker of its own. Raises WorkerStartError."""
    return tuple(Check(name, _on_fresh_worker(command, hang_after_s, ask)) for name, ask in _CHECKS)


def _on_fresh_worker(command: Sequence[str], hang_after_s: float, ask: Callable[[Worker], str]) -> str:
    worker = Worker(command, hang_after_s)
    try:
        return ask(worker)
    finally:
        worker.stop()


def _greets(worker: Worker) -> str:
    hello = worker.ask("hello", HelloParams(PROTOCOL_VERSION, "oracle"), Hello)
    if not isinstance(hello, Hello):
        return _refused(hello)
    if hello.protocol != PROTOCOL_VERSION:
        return f"says protocol {hello.protocol}, asked for {PROTOCOL_VERSION}"
    return "" if hello.harness and hello.platform else "harness or platform is empty"


def _refuses_other_version(worker: Worker) -> str:
    answer = worker.ask("hello", HelloParams(PROTOCOL_VERSION + 1000, "oracle"), Hello)
    return _wants_error(answer, "protocol")


def _names_unknown_operation(worker: Worker) -> str:
    return _greets(worker) or _wants_error(worker.ask("no-such-operation", {}, Empty), "protocol")


def _refuses_other_parameters(worker: Worker) -> str:
    return _greets(worker) or _wants_error(worker.ask("probe", {"adapter": 7}, Empty), "protocol")


def _names_unknown_adapter(worker: Worker) -> str:
    answer = worker.ask("probe", AdapterParams("no-such-adapter"), Empty) if not (why := _greets(worker)) else None
    return why or _wants_error(answer, "usage")


def _describes_device(worker: Worker) -> str:
    if why := _greets(worker):
        return why
    device = worker.ask("device", {}, DeviceRecord)
    return "" if isinstance(device, DeviceRecord) else _refused(device)


def _takes_model_in_pieces(worker: Worker) -> str:
    if why := _greets(worker):
        return why
    data = bytes(range(256))
    digest = hashlib.sha256(data).hexdigest()
    for offset in (0, 128):
        piece = ModelParams(digest, "conformance", ".bin", len(data), offset, data[offset : offset + 128])
        received = worker.ask("model", piece, ModelReceived)
        if not isinstance(received, ModelReceived):
            return _refused(received)
        if received != ModelReceived(offset + 128, complete=offset == 128):  # noqa: PLR2004 - the second half
            return "does not count the bytes it was sent"
    return ""


def _refuses_wrong_digest(worker: Worker) -> str:
    if why := _greets(worker):
        return why
    return _wants_error(worker.ask("model", ModelParams("0" * 64, "wrong", ".bin", 1, 0, b"x"), Empty), "protocol")


def _goes_on_after_an_error(worker: Worker) -> str:
    return _names_unknown_operation(worker) or _describes_device(worker)


def _shuts_down(worker: Worker) -> str:
    if why := _greets(worker):
        return why
    answer = worker.ask("shutdown", {}, Empty)
    return "" if isinstance(answer, Empty) else _refused(answer)


_CHECKS: tuple[tuple[str, Callable[[Worker], str]], ...] = (
    ("answers hello", _greets),
    ("refuses another protocol version", _refuses_other_version),
    ("names an unknown operation as a protocol error", _names_unknown_operation),
    ("refuses parameters of another shape", _refuses_other_parameters),
    ("names an unknown adapter as a usage error", _names_unknown_adapter),
    ("describes its device", _describes_device),
    ("takes a model in pieces", _takes_model_in_pieces),
    ("refuses a model with another digest", _refuses_wrong_digest),
    ("goes on after an error", _goes_on_after_an_error),
    ("shuts down when asked", _shuts_down),
)


def _wants_error(answer: object, kind: str) -> str:
    if isinstance(answer, ErrorReport):
        return "" if answer.kind == kind else f"called it {answer.kind!r}, not {kind!r}"
    return _refused(answer) if isinstance(answer, Death) else "answered with a result"


def _refused(answer: object) -> str:
    if isinstance(answer, Death):
        return answer.how
    return f"answered with an error: {answer.message}" if isinstance(answer, ErrorReport) else "gave no answer"
