"""The process is killed as the kernel does it that has no memory left: with SIGKILL, and without a word."""

import os
import signal

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["OUT_OF_MEMORY_KILL"]


def _strike(hit: Hit) -> None:
    del hit
    os.kill(os.getpid(), signal.SIGKILL)


OUT_OF_MEMORY_KILL = Fault(
    name="out-of-memory-kill",
    point="invoke",
    says="the process is killed with SIGKILL in one run, as the kernel does that has no memory left",
    scope=Scope.PROCESS,
    strike=_strike,
    kills=True,
)
