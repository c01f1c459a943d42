"""A worker process, seen from the supervisor: ask it something, and learn how it ended if it did."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, sleep  # noqa: TID251 - the supervisor owns real-time deadlines
from typing import IO, TypeVar, cast

import msgspec

from harness.observe.neighbour import Look, Moment
from harness.suite.plan import CORE
from harness.supervisor.death import Death, describe_exit
from harness.supervisor.spawner import spawn
from harness.supervisor.wire import Silence, Wire
from harness.verdict import Verdict
from harness.worker.orphan import SUPERVISOR
from harness.worker.protocol import ErrorReport, Reply, Request, encode_line

__all__ = ["CELL_LIMIT_S", "DEFAULT_HANG_AFTER_S", "Worker", "WorkerStartError", "worker_command"]

DEFAULT_HANG_AFTER_S = 30.0
CELL_LIMIT_S = 3600.0
"""A request that is still open after this many seconds has hung, however much progress it reports."""
_GOODBYE_S = 2.0
_ASKED_S = 0.5
Result = TypeVar("Result")


class WorkerStartError(ValueError):
    """The worker's command does not exist or cannot be executed."""


def worker_command(python: str = "", command: Sequence[str] = ()) -> tuple[str, ...]:
    """The command that starts a worker. `-P` keeps the user's folder from shadowing the standard library."""
    return tuple(command) or (python or sys.executable, "-P", "-m", "harness.worker")


class Worker:
    """One worker process in a process group of its own.

    One thread asks and stops; `kill` may be called from any thread, and from a signal handler. Raises WorkerStartError.
    """

    def __init__(self, command: Sequence[str], hang_after_s: float = DEFAULT_HANG_AFTER_S, core: int = 0) -> None:
        self._hang_after_s = hang_after_s
        self._next_id = 0
        self._exit: int | None = None
        self._reaping = False
        try:
            self._process = spawn(command, _environment(os.environ, core))
        except OSError as error:
            message = f"the worker's command {os.path.basename(command[0])!r} does not start: {error.strerror}"  # noqa: PTH119 - a command is no path
            raise WorkerStartError(message) from error
        self._wire = Wire(*(cast("IO[bytes]", pipe) for pipe in self._pipes()))

    def _pipes(self) -> tuple[object, object, object]:
        return self._process.stdin, self._process.stdout, self._process.stderr

    @property
    def pid(self) -> int:
        """The process id, which is the group's id too."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the worker can be asked something."""
        return self._exit is None

    def last_words(self) -> tuple[str, ...]:
        """The last lines of standard error, for a person who asks; they enter no receipt."""
        return self._wire.last_words.lines()

    def ask(
        self,
        op: str,
        params: object,
        into: type[Result],
        on_progress: Callable[[int], None] | None = None,
        on_look: Callable[[Moment], Look] | None = None,
    ) -> Result | ErrorReport | Death:
        """Send one request and wait for its answer. A worker that died meanwhile has been reaped when this returns.

        `on_look` answers how the neighbour process is; a worker that asks without it is noise.
        """
        self.post(op, params)
        return self._read(self._reply(self._next_id, on_progress or _nobody, on_look), into)

    def post(self, op: str, params: object) -> None:
        """Send one request, to be answered by `collect`. Whether it arrived is seen there."""
        if self._exit is not None:
            return
        self._next_id += 1
        request = Request(self._next_id, op, msgspec.Raw(msgspec.json.encode(params)))
        # A send that fails is not yet a death: what the process did last is read first.
        self._wire.send(encode_line(request), monotonic() + self._hang_after_s)

    def collect(self, into: type[Result], seconds: float) -> Result | ErrorReport | Death | None:
        """Wait so long for the answer to what was posted. None where there is none yet: the worker lives on."""
        message = self._message(self._next_id, monotonic() + seconds)
        return None if message is Silence.TIMEOUT else self._read(self._settled(message), into)

    def _read(self, reply: Reply | Death, into: type[Result]) -> Result | ErrorReport | Death:
        if isinstance(reply, Death):
            return reply
        if reply.error is not None:
            return reply.error
        try:
            return msgspec.json.decode(reply.result or b"null", type=into)
        except msgspec.MsgspecError:
            return self._noise("answered with something else than its result")

    def stop(self) -> None:
        """End the worker: close its input, give it a moment, then kill its group. Safe to call again."""
        if self._exit is not None:
            return
        self._wire.hang_up()
        self._wait(_GOODBYE_S)
        self._reap()

    def kill(self) -> None:
        """Kill the process group now. The asking thread then sees a death."""
        if not self._reaping:
            self._signal(signal.SIGKILL)

    def _reply(
        self, request: int, on_progress: Callable[[int], None], on_look: Callable[[Moment], Look] | None
    ) -> Reply | Death:
        limit = monotonic() + CELL_LIMIT_S
        while True:
            message = self._message(request, min(monotonic() + self._hang_after_s, limit))
            if isinstance(message, Reply) and message.progress is not None:
                on_progress(message.progress)
            elif isinstance(message, Reply) and message.look is not None and on_look is not None:
                looked = Request(request, "looked", msgspec.Raw(msgspec.json.encode(on_look(message.look))))
                self._wire.send(encode_line(looked), monotonic() + self._hang_after_s)
            else:
                return self._settled(message)

    def _message(self, request: int, deadline: float) -> Reply | Death | Silence:
        """The next message about this request; why there is none."""
        if self._exit is not None:
            return describe_exit(self._exit)
        while (received := self._wire.receive(deadline)) is Silence.TICK:
            if self._exited():
                self._signal(signal.SIGKILL)  # whatever it started holds the pipes open
        if not isinstance(received, bytes):
            return received
        message = _decode(received)
        return Silence.NOISE if message is None or message.id not in {request, 0} else message

    def _settled(self, message: Reply | Death | Silence) -> Reply | Death:
        """What the last message comes to: the answer, or how the worker ended."""
        if isinstance(message, Silence):
            return self._silence(message)
        if isinstance(message, Reply) and (message.progress is not None or message.look is not None):
            return self._silence(Silence.NOISE)
        return message

    def _silence(self, why: Silence) -> Death:
        if why is Silence.TIMEOUT:
            return self._hung()
        if why is Silence.NOISE:
            return self._noise("wrote something that is not the protocol")
        if why is Silence.TOO_LONG:
            return self._noise("wrote a line without an end")
        half = ", in the middle of a message" if self._wire.half_a_line else ""
        self._wait(_GOODBYE_S)  # standard output ended: the exit follows at once, or never
        if not self._exited():
            return self._noise("closed its standard output")
        death = describe_exit(self._reap())
        return Death(death.verdict, death.how + half)

    def _hung(self) -> Death:
        """Ask first: a command such as ssh can then end what it started elsewhere."""
        self._wire.hang_up()
        self._signal(signal.SIGTERM)
        self._wait(_ASKED_S)
        self._reap()
        return Death(Verdict.HUNG, f"said nothing for {self._hang_after_s:g} s and was killed")

    def _noise(self, how: str) -> Death:
        self._reap()
        return Death(Verdict.CRASHED, how)

    def _wait(self, seconds: float) -> None:
        deadline = monotonic() + seconds
        while not self._exited() and monotonic() < deadline:
            sleep(0.005)

    def _exited(self) -> bool:
        """Whether the process has ended, without reaping it: until it is reaped its group id cannot be used again."""
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def _reap(self) -> int:
        """Kill what is left of the group, reap, close the pipes. Returns the exit status."""
        self._signal(signal.SIGKILL)
        self._reaping = True  # from here on the id may belong to another process: `kill` must not use it
        self._exit = self._process.wait()
        self._wire.close()
        return self._exit

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _environment(parent: Mapping[str, str], core: int) -> dict[str, str]:
    own = {CORE: str(core), SUPERVISOR: str(os.getpid())}
    return {**parent, **own, "PYTHONHASHSEED": "0", "ORT_DISABLE_TELEMETRY": "1", "PYTHONUNBUFFERED": "1"}


def _decode(line: bytes) -> Reply | None:
    try:
        reply = msgspec.json.decode(line, type=Reply)
    except msgspec.MsgspecError:
        return None
    said = (reply.progress is not None, reply.look is not None, reply.result is not msgspec.UNSET)
    return reply if sum(said) + (reply.error is not None) == 1 else None


def _nobody(_execution: int) -> None:
    """Progress that nobody asked for."""
