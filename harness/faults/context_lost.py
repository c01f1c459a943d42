"""The context of a session is lost: nothing runs on it any more."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Lasts, Scope

__all__ = ["CONTEXT_LOST", "ContextLostError"]


class ContextLostError(RunError):
    """The context is lost: only a new session helps."""


def _strike(hit: Hit) -> None:
    message = f"injected: the context is lost [{hit.task}]"
    raise ContextLostError(message)


CONTEXT_LOST = Fault(
    name="context-lost",
    point="invoke",
    says="a session's context is lost: nothing runs on it any more, until it is rebuilt",
    scope=Scope.CONTEXT,
    strike=_strike,
    lasts=Lasts.SESSION,
)
