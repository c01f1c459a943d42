"""What a service itself can fail with; a task's own failure is the adapter's error, passed on as it is."""

from __future__ import annotations

__all__ = ["QueueFullError", "RunAbortedError", "ServiceClosedError", "ServiceError", "SessionReleaseError"]


class ServiceError(Exception):
    """A failure of the service, as opposed to a runtime call's (`adapters.base.AdapterError`).

    ServiceError
     x QueueFullError        submit: as many accepted tasks wait as the queue has places
     x ServiceClosedError    submit: the service is draining or closed
     x RunAbortedError       a task's outcome: its run raised something that is not an Exception (`__cause__`)
     x SessionReleaseError   close: a session did not close cleanly (`__cause__`); everything has been released
    """


class QueueFullError(ServiceError):
    """As many accepted tasks wait as the queue has places; the task was not accepted."""


class ServiceClosedError(ServiceError):
    """The service is draining or closed; the task was not accepted."""


class RunAbortedError(ServiceError):
    """The run raised something that is not an Exception, such as SystemExit; its class is in the text."""


class SessionReleaseError(ServiceError):
    """A session did not close cleanly; every worker has ended and every session has been told to close."""
