"""The worker's main loop: read a request, do it, answer. Knows nothing of runtimes; the operations are handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic  # noqa: TID251 - progress is throttled in real time; taken before the engine replaces clocks
from typing import BinaryIO, Protocol, TypeAlias, TypeVar

import msgspec

from harness.observe.neighbour import Look, Moment
from harness.worker.protocol import LINE_LIMIT, ErrorKind, ErrorReport, Reply, Request, encode_line

__all__ = ["Emit", "Operation", "OperationError", "operation", "serve"]

Params = TypeVar("Params")

_ANNOUNCE_AFTER_S = 0.005
"""An execution that begins this long after the last message is announced, so that a crash in it can be attributed."""


class Emit(Protocol):
    """What an operation tells the supervisor, and asks it, before it is done. Used on the thread that runs it."""

    def __call__(self, execution: int, /) -> None:
        """Say which execution is about to begin."""

    def look(self, moment: Moment) -> Look:
        """Ask how the neighbour process is, where the request allows that."""
        ...


Operation: TypeAlias = Callable[[msgspec.Raw, Emit], object]


class OperationError(Exception):
    """An operation could not be done, for a reason that the supervisor must tell apart."""

    def __init__(self, *, kind: ErrorKind, error_class: str, message: str) -> None:
        super().__init__(message)
        self.report = ErrorReport(kind, error_class, message)


def operation(params: type[Params], perform: Callable[[Params, Emit], object]) -> Operation:
    """Decode the parameters before `perform` sees them; parameters of another shape are a protocol error."""
    decoder = msgspec.json.Decoder(params)

    def run(raw: msgspec.Raw, emit: Emit) -> object:
        try:
            decoded = decoder.decode(raw)
        except msgspec.MsgspecError as error:
            raise OperationError(kind="protocol", error_class="BadParameters", message=str(error)) from error
        return perform(decoded, emit)

    return run


def serve(requests: BinaryIO, replies: BinaryIO, operations: Mapping[str, Operation]) -> int:
    """Answer requests until `shutdown`, the end of the input, or a reader that has gone. Returns the exit status.

    Runs on the calling thread; operations run there too, one at a time.
    """
    writer = _Writer(requests, replies)
    decoder = msgspec.json.Decoder(Request)
    try:
        while line := requests.readline(LINE_LIMIT + 1):
            request = _decode(decoder, line, writer)
            if request is None:
                continue
            if request.op == "shutdown":
                writer.reply(Reply(request.id, result=msgspec.Raw(b"{}")))
                return 0
            writer.reply(_answer(request, operations, writer))
    except BrokenPipeError:
        return 1  # the supervisor has gone: nobody is left to answer to
    return 0


def _decode(decoder: msgspec.json.Decoder[Request], line: bytes, writer: _Writer) -> Request | None:
    if not line.endswith(b"\n"):
        return None  # the supervisor died in the middle of a line, or the line is over the limit
    try:
        return decoder.decode(line)
    except msgspec.MsgspecError as error:
        writer.reply(Reply(0, error=ErrorReport("protocol", "BadRequest", str(error))))
        return None


def _answer(request: Request, operations: Mapping[str, Operation], writer: _Writer) -> Reply:
    perform = operations.get(request.op)
    if perform is None:
        return Reply(request.id, error=ErrorReport("protocol", "UnknownOperation", f"no operation {request.op!r}"))
    try:
        result = perform(request.params, writer.announcer(request.id))
    except OperationError as error:
        return Reply(request.id, error=error.report)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it was, the supervisor must hear of it
        return Reply(request.id, error=ErrorReport("defect", type(error).__name__, _where(error)))
    return Reply(request.id, result=msgspec.Raw(msgspec.json.encode(result)))


def _where(error: Exception) -> str:
    """Say where an unclassified error arose, by module and line: its text could hold a path or a payload."""
    trace = error.__traceback__
    place = "nowhere"
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "?")
        place = f"{module} line {trace.tb_lineno}"
        trace = trace.tb_next
    return f"unclassified error in {place}"


class _Writer:
    """The worker's end of the wire."""

    def __init__(self, requests: BinaryIO, stream: BinaryIO) -> None:
        self._requests = requests
        self._stream = stream
        self._last = 0.0

    def reply(self, message: Reply) -> None:
        self._stream.write(encode_line(message))
        self._stream.flush()
        self._last = monotonic()

    def announcer(self, request: int) -> Emit:
        self._last = 0.0  # the first execution of a request is always announced
        return _Announcer(self, request)

    def announce(self, request: int, execution: int) -> None:
        if monotonic() - self._last >= _ANNOUNCE_AFTER_S:
            self.reply(Reply(request, progress=execution))

    def look(self, request: int, moment: Moment) -> Look:
        """Ask, and read the answer, which the supervisor bounds. Raises BrokenPipeError where it has gone."""
        self.reply(Reply(request, look=moment))
        line = self._requests.readline(LINE_LIMIT + 1)
        if not line.endswith(b"\n"):
            raise BrokenPipeError
        answer = msgspec.json.decode(line, type=Request)
        return msgspec.json.decode(answer.params, type=Look)


class _Announcer:
    """See `Emit`."""

    def __init__(self, writer: _Writer, request: int) -> None:
        self._writer = writer
        self._request = request

    def __call__(self, execution: int, /) -> None:
        self._writer.announce(self._request, execution)

    def look(self, moment: Moment) -> Look:
        return self._writer.look(self._request, moment)
