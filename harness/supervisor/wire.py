"""The supervisor's end of a worker's pipes: whole lines both ways, every wait bounded, standard error drained."""

from __future__ import annotations

import contextlib
import os
import re
import select
from collections import deque
from enum import Enum
from time import monotonic  # noqa: TID251 - the supervisor owns real-time deadlines
from typing import IO, TypeAlias

from harness.worker.protocol import LINE_LIMIT

__all__ = ["LastWords", "Received", "Silence", "Wire"]

_READ_BYTES = 256 * 1024
_TICK_S = 0.2
"""How often a wait looks up: an exit whose pipes a grandchild keeps open shows no end of file."""


class Silence(Enum):
    """Why no line came."""

    TIMEOUT = "timeout"
    ENDED = "ended"
    TOO_LONG = "too-long"
    TICK = "tick"
    NOISE = "noise"


Received: TypeAlias = bytes | Silence


class LastWords:
    """The last lines of a worker's standard error, bounded and without control characters. They enter no receipt."""

    def __init__(self, lines: int = 40, width: int = 400) -> None:
        self._lines: deque[str] = deque(maxlen=lines)
        self._width = width
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        *whole, rest = (self._rest + data).split(b"\n")
        self._rest = rest[: self._width]
        for line in whole:
            self._lines.append(_printable(line[: self._width]))

    def lines(self) -> tuple[str, ...]:
        """Return the last lines, oldest first."""
        rest = (_printable(self._rest),) if self._rest else ()
        return (*self._lines, *rest)


def _printable(line: bytes) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", line.decode("utf-8", "replace"))


class Wire:
    """Pipes to one process, used from one thread. It has no threads of its own, so `close` leaves nothing behind."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self._streams = (stdin, stdout, stderr)
        self._stdin, self._stdout, self._stderr = (stream.fileno() for stream in self._streams)
        for fd in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(fd, False)
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)
        self._poll.register(self._stderr, select.POLLIN)
        self._buffer = bytearray()
        self._scanned = 0
        self._ended = False
        self.last_words = LastWords()

    @property
    def half_a_line(self) -> bool:
        """Whether bytes came that no line feed has ended."""
        return bool(self._buffer)

    def send(self, line: bytes, deadline: float) -> bool:
        """Write a whole line, draining what comes meanwhile. False when the reader has gone or reads too slowly."""
        view = memoryview(line)
        self._poll.register(self._stdin, select.POLLOUT)
        try:
            while view:
                try:
                    view = view[os.write(self._stdin, view) :]
                except BlockingIOError:
                    if monotonic() > deadline:
                        return False
                    self._pump(deadline)
                except BrokenPipeError:
                    return False
            return True
        finally:
            self._poll.unregister(self._stdin)

    def receive(self, deadline: float) -> Received:
        """Return the next whole line, or say why there is none. TICK: look whether the process lives, and come back."""
        line = self._line()
        if line is not None:
            return line
        if self._ended:
            return Silence.ENDED
        if len(self._buffer) > LINE_LIMIT:
            return Silence.TOO_LONG
        if monotonic() >= deadline:
            return Silence.TIMEOUT
        self._pump(deadline)
        return self._line() or Silence.TICK

    def close(self) -> None:
        """Close the three pipes, after a last look at standard error."""
        self._drain_stderr()
        for stream in self._streams:
            if not stream.closed:
                stream.close()

    def hang_up(self) -> None:
        """Close the worker's input: a worker that is still reading ends by itself."""
        self._streams[0].close()

    def _pump(self, deadline: float) -> None:
        wait_s = max(0.0, min(_TICK_S, deadline - monotonic()))
        for fd, _ in self._poll.poll(wait_s * 1000):
            if fd == self._stderr:
                self._drain_stderr()
            elif fd == self._stdout:
                self._read_stdout()

    def _read_stdout(self) -> None:
        data = _read(self._stdout)
        if data is None:
            return
        if not data:
            self._ended = True
            self._forget(self._stdout)
        self._buffer += data

    def _forget(self, fd: int) -> None:
        """A pipe at its end is always ready, and a poll on it would spin."""
        with contextlib.suppress(KeyError):
            self._poll.unregister(fd)

    def _drain_stderr(self) -> None:
        if self._streams[2].closed:
            return
        data = _read(self._stderr)
        if data:
            self.last_words.feed(data)
        elif data is not None:
            self._forget(self._stderr)

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._buffer)
            return None
        line = bytes(self._buffer[: end + 1])
        del self._buffer[: end + 1]
        self._scanned = 0
        return line


def _read(fd: int) -> bytes | None:
    """What is there now: None for nothing yet, empty at the end."""
    try:
        return os.read(fd, _READ_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""
