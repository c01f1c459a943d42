"""What ends a thread comes out of a session call, past every `except Exception`."""

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["WORKER_DEATH", "WorkerDeathError"]


class WorkerDeathError(BaseException):
    """No Exception, as what `sys.exit` in a hook or a dying interpreter raises is none."""


def _strike(hit: Hit) -> None:
    message = f"injected: the thread is to end [{hit.task}]"
    raise WorkerDeathError(message)


WORKER_DEATH = Fault(
    name="worker-death",
    point="invoke",
    says="what comes out of one run is no Exception, so that it ends a thread that does not expect it",
    scope=Scope.CONTEXT,
    strike=_strike,
)
