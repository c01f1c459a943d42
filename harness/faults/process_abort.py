"""The process aborts, as a runtime does whose assertion fails."""

import os

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["PROCESS_ABORT"]


def _strike(hit: Hit) -> None:
    del hit
    os.abort()


PROCESS_ABORT = Fault(
    name="process-abort",
    point="invoke",
    says="the process calls abort() in one run, and dies of SIGABRT",
    scope=Scope.PROCESS,
    strike=_strike,
    kills=True,
)
