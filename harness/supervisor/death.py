"""How a worker ended when it should not have: what it did, told apart from what we did to it."""

from __future__ import annotations

import signal

import msgspec

from harness.verdict import Verdict

__all__ = ["Death", "describe_exit"]

_FAULTS = frozenset(
    {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS, signal.SIGTRAP}
)
_SHELL_BASE = 128


class Death(msgspec.Struct, frozen=True):
    """A worker's end in the middle of a request: CRASHED, HUNG or KILLED, and one phrase that says how."""

    verdict: Verdict
    how: str


def describe_exit(returncode: int) -> Death:
    """Classify an exit that the supervisor did not cause.

    A negative code is a signal. A command that wraps the worker (a shell, ssh) reports the signal as 128 + number.
    """
    wrapped = returncode > _SHELL_BASE
    number = returncode - _SHELL_BASE if wrapped else -returncode
    try:
        name = signal.Signals(number).name if number > 0 else ""
    except ValueError:
        name = ""
    if not name:
        return Death(Verdict.CRASHED, f"exited with status {returncode}")
    if number in _FAULTS:
        return Death(Verdict.CRASHED, f"crashed with {name}")
    if number == signal.SIGKILL:
        return Death(Verdict.KILLED, "was killed with SIGKILL, by the kernel for lack of memory or by somebody")
    return Death(Verdict.KILLED, f"was ended by {name}")
