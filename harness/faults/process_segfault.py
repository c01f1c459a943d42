"""The process reads where nothing is mapped, as a runtime with a stray pointer does."""

import ctypes

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["PROCESS_SEGFAULT"]


def _strike(hit: Hit) -> None:
    del hit
    ctypes.string_at(0)  # the kernel answers with SIGSEGV


PROCESS_SEGFAULT = Fault(
    name="process-segfault",
    point="invoke",
    says="the process reads at address 0 in one run, and dies of SIGSEGV",
    scope=Scope.PROCESS,
    strike=_strike,
    kills=True,
)
