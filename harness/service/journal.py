"""Work that must finish: a journal that a killed process resumes from without running a finished task twice."""

from __future__ import annotations

import hashlib
import json
import os
import threading  # noqa: TID251 - a journal is written by clients and workers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from adapters.base import Arrays
from harness.service.errors import ServiceError

if TYPE_CHECKING:
    from harness.service.run import Run

__all__ = ["Entry", "FileJournal", "Journal", "JournalError", "LineJournal", "enter_journalled"]

_CHECKSUM = 16


class JournalError(ServiceError):
    """The task may not run: it is finished, it is in flight, its inputs are not those it was accepted with.

    Also raised for a journal that is damaged anywhere but at its end.
    """

    refusal = "journal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A task that was accepted and is not finished. `payload_ref` is what its owner finds the inputs by."""

    payload_ref: str
    inputs_digest: str


class Journal(Protocol):
    """Remembers must-finish tasks across processes. Called with no lock held; what it is told is durable on return."""

    def accepted(self, payload_ref: str, inputs_digest: str) -> None:
        """A task is about to be accepted, on the submitting thread. Raises JournalError if it may not run."""

    def released(self, payload_ref: str, *, forget: bool = False) -> None:
        """It is no longer in flight here and, unless finished, is pending.

        With `forget` it was not accepted after all, and is pending only if it was before.
        """

    def finished(self, payload_ref: str) -> None:
        """Its run ended, on the worker and before anybody sees the outcome; or its client cancelled it."""

    def pending(self) -> tuple[Entry, ...]:
        """What was accepted and is not finished, in order of acceptance."""
        ...


class LineJournal(ABC):
    """A journal of checksummed lines, one for each fact, in the order of the facts. See `FileJournal`.

    Begins with the lines that are there; `whole` is how many of their bytes are whole ones. A line that a crash cut off
    at the end counts as never written.
    """

    def __init__(self, data: bytes) -> None:
        self._lock = threading.Lock()
        self._pending: dict[str, Entry] = {}
        self._finished: set[str] = set()
        self._in_flight: dict[str, bool] = {}  # and whether this is the first time that it was accepted
        self.whole = self._read(data)

    @abstractmethod
    def append(self, line: bytes) -> None:
        """Add a line, durably. Called under the journal's lock."""

    def accepted(self, payload_ref: str, inputs_digest: str) -> None:
        """See `Journal`."""
        with self._lock:
            known = self._pending.get(payload_ref)
            if payload_ref in self._finished:
                message = "the task is finished: it does not run again"
            elif payload_ref in self._in_flight:
                message = "the task is in flight already"
            elif known is not None and known.inputs_digest != inputs_digest:
                message = "the inputs are not those that the task was accepted with"
            else:
                if known is None:
                    self._write("accepted", payload_ref, inputs_digest)
                self._in_flight[payload_ref] = known is None
                return
        raise JournalError(message)

    def released(self, payload_ref: str, *, forget: bool = False) -> None:
        """See `Journal`."""
        with self._lock:
            if self._in_flight.pop(payload_ref, False) and forget:
                self._write("withdrawn", payload_ref)

    def finished(self, payload_ref: str) -> None:
        """See `Journal`."""
        with self._lock:
            if payload_ref not in self._finished:
                self._write("finished", payload_ref)

    def pending(self) -> tuple[Entry, ...]:
        """See `Journal`."""
        with self._lock:
            return tuple(self._pending.values())

    def _write(self, *fact: str) -> None:
        text = json.dumps(fact)
        self.append(f"{_checksum(text)} {text}\n".encode())
        self._apply(fact)

    def _read(self, data: bytes) -> int:
        """Take in the file's lines and return how many of its bytes are whole ones."""
        whole = 0
        lines = data.split(b"\n")
        for line in lines[:-1]:  # what follows the last newline was cut off
            checksum, _, text = line.decode(errors="replace").partition(" ")
            if checksum != _checksum(text):
                if whole + len(line) + 1 < len(data):
                    message = "the journal is damaged before its end"
                    raise JournalError(message)
                break
            self._apply(tuple(json.loads(text)))
            whole += len(line) + 1
        return whole

    def _apply(self, fact: tuple[str, ...]) -> None:
        kind, payload_ref, *rest = fact
        if kind == "accepted":
            self._pending[payload_ref] = Entry(payload_ref=payload_ref, inputs_digest=rest[0])
            return
        self._pending.pop(payload_ref, None)
        if kind == "finished":
            self._finished.add(payload_ref)


class FileJournal(LineJournal):
    """A journal in one append-only file: what it is told is on the disk before the call returns.

    One process may use a file at a time. The file grows with every task: start a new one when nothing is pending. Holds
    references and digests, never inputs or outputs.
    """

    def __init__(self, path: Path | str) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            super().__init__(Path(path).read_bytes())
            os.ftruncate(self._file, self.whole)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, line: bytes) -> None:
        """Write and flush the line."""
        left = memoryview(line)
        while left:
            left = left[os.write(self._file, left) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file; the journal may not be told anything afterwards."""
        with self._lock:
            os.close(self._file)


def enter_journalled(journal: Journal | None, payload_ref: str | None, run: Run, enter: Callable[[], None]) -> None:
    """Journal a task and have it `enter` the line, in this order; if it is refused, the journal forgets it."""
    if journal is None or payload_ref is None:
        message = "a task that must finish needs a payload_ref, by which its inputs are found again"
        raise ValueError(message)
    journal.accepted(payload_ref, inputs_digest(run.inputs))
    run.finish = partial(journal.finished, payload_ref)
    (future,) = run.futures
    try:
        enter()
    except BaseException:
        journal.released(payload_ref, forget=True)
        raise
    future.add_done_callback(lambda _: journal.released(payload_ref))


def inputs_digest(inputs: Arrays) -> str:
    """The sha256, in hex, over every input's name, dtype, shape and bytes."""
    digest = hashlib.sha256()
    for name in sorted(inputs):
        array = inputs[name]
        digest.update(f"{name}\n{array.dtype.str}\n{array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_CHECKSUM]
