"""How a runtime call fails: the classes, and how far each failure reaches."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "AdapterError",
    "ContractError",
    "DelegateInitError",
    "ModelLoadError",
    "OptionError",
    "OutputContractError",
    "RunError",
    "RunInterruptedError",
    "Scope",
    "SessionClosedError",
    "UnavailableError",
    "scope_of",
]


class Scope(StrEnum):
    """How far a failure reaches by itself. What is outside of it must go on as if nothing had happened."""

    REQUEST = "request"  # the task that it struck
    CONTEXT = "context"  # the session that it struck, with what runs on it: only a new session helps
    PROCESS = "process"  # everything in the process
    DEVICE = "device"  # every session that is open on the device


class AdapterError(Exception):
    """A classified failure of a runtime call. Its text names no payload, path or other task.

    AdapterError
     x UnavailableError      the runtime or the delegate is not installed
     x ModelLoadError        the bytes are not a model that this runtime loads
     x DelegateInitError     the requested delegate did not start, and fallback was not allowed
     x OptionError           the adapter has no such option, or the value is of the wrong kind
     x ContractError         an input breaks the model's contract; the runtime was not called
     x OutputContractError   the runtime returned something other than its contract says
     x RunError              the runtime call failed
     x RunInterruptedError   the call ended because of `Session.interrupt`
     x SessionClosedError    the session was used after `close`

    `scope` is how far it reaches: the class's own, or what the adapter knows better of this one. `code` is the driver's
    own name or number for it, and `dump` a reference to what the driver wrote down, no path; None where there is none.
    """

    scope: Scope = Scope.REQUEST
    code: int | str | None = None
    dump: str | None = None

    def __init__(
        self, *args: object, scope: Scope | None = None, code: int | str | None = None, dump: str | None = None
    ) -> None:
        super().__init__(*args)
        if scope is not None:
            self.scope = scope
        if code is not None:
            self.code = code
        if dump is not None:
            self.dump = dump


class UnavailableError(AdapterError):
    """The runtime or the delegate is not installed here."""

    scope = Scope.PROCESS


class ModelLoadError(AdapterError):
    """The bytes are not a model that this runtime loads."""

    scope = Scope.CONTEXT


class DelegateInitError(AdapterError):
    """The requested delegate did not start, and fallback was not allowed."""

    scope = Scope.CONTEXT


class OptionError(AdapterError):
    """The adapter has no such option, or its value is of the wrong kind. The text names the options it has."""


class ContractError(AdapterError):
    """An input breaks the model's contract; the runtime was not called."""


class OutputContractError(AdapterError):
    """The runtime returned an output that its own contract does not describe."""


class RunError(AdapterError):
    """The runtime call failed."""


class RunInterruptedError(AdapterError):
    """The call ended early because `Session.interrupt` asked for it."""


class SessionClosedError(AdapterError):
    """The session was used after `close`."""

    scope = Scope.CONTEXT


def scope_of(error: BaseException) -> Scope | None:
    """How far an error says that it reaches; None where it does not say."""
    try:
        return Scope(getattr(error, "scope", None))
    except ValueError:
        return None
