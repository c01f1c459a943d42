"""What a service itself can fail with; a task's own failure is the adapter's error, passed on as it is."""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "DeadlineExpiredError",
    "QueueFullError",
    "ReplacedError",
    "RunAbortedError",
    "RunBudgetError",
    "ServiceClosedError",
    "ServiceError",
    "ServiceForkedError",
    "ServiceUnhealthyError",
    "SessionReleaseError",
    "SlotLostError",
    "SwitchError",
]


class ServiceError(Exception):
    """A failure of the service, as opposed to a runtime call's (`adapters.base.AdapterError`).

    ServiceError
     x QueueFullError          submit: no place for the task; `retry_after` says when there may be one
     x ServiceClosedError      submit: the service is draining or closed
     x ServiceUnhealthyError   submit: too many runs that nobody waits for are in flight, or no slot is left
     x ServiceForkedError      whatever is asked: the service is that of the process that this one was forked from
     x DeadlineExpiredError    an outcome: the task's deadline was due before its result was there
     x ReplacedError           an outcome: a newer task of its class took the waiting task's place
     x RunBudgetError          an outcome: the run took longer than the service allows
     x RunAbortedError         an outcome: the run raised something that is not an Exception (`__cause__`)
     x SlotLostError           an outcome: the last slot was lost while the task waited (`__cause__`)
     x SwitchError             switch: the new model did not open (`__cause__`), and the old one stays
     x SessionReleaseError     close: a session did not close cleanly (`__cause__`); everything has been released

    Errors of `submit` name their kind in `refusal`, errors that stand for an outcome of their own in `outcome`. None is
    a TimeoutError: that is what a wait that timed out raises, and the task it waited for goes on.
    """


class QueueFullError(ServiceError):
    """There is no place for the task; it was not accepted.

    `retry_after` is in seconds: how long it takes, as runs went lately, until a place is free. None where no run has
    ended yet.
    """

    refusal: ClassVar[str] = "full"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ServiceClosedError(ServiceError):
    """The service is draining or closed; the task was not accepted."""

    refusal: ClassVar[str] = "closed"


class ServiceUnhealthyError(ServiceError):
    """The service takes no tasks until a session has proved sound; the task was not accepted."""

    refusal: ClassVar[str] = "unhealthy"


class ServiceForkedError(ServiceError):
    """The service is the parent's of this process; nothing of it works here."""

    refusal: ClassVar[str] = "forked"


class DeadlineExpiredError(ServiceError):
    """The task's deadline was due. It never starts afterwards, and a result that comes later is dropped."""

    outcome: ClassVar[str] = "EXPIRED"


class ReplacedError(ServiceError):
    """A newer task of the same class took the place of this one, which had not started."""

    outcome: ClassVar[str] = "REPLACED"


class RunBudgetError(ServiceError):
    """The run took longer than the service allows. Its slot stays held until the native call has returned."""


class RunAbortedError(ServiceError):
    """The run raised something that is not an Exception, such as SystemExit; its class is in the text."""


class SlotLostError(ServiceError):
    """The last slot could not be opened or rebuilt while the task waited; the task never started."""

    @classmethod
    def because(cls, cause: BaseException | None) -> SlotLostError:
        """The error of a task for which no slot is left."""
        error = cls("no slot is left to run the task")
        error.__cause__ = cause
        return error


class SwitchError(ServiceError):
    """The service was not switched: every task that it has, and every new one, gets the version that it had before."""


class SessionReleaseError(ServiceError):
    """A session did not close cleanly; every worker has ended and every session has been told to close."""
