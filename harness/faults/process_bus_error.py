"""The process reads a page of a mapped file that was cut off, as a runtime does whose model was truncated under it."""

import mmap
import tempfile

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["PROCESS_BUS_ERROR"]


def _strike(hit: Hit) -> None:
    del hit
    with tempfile.TemporaryFile() as file:  # without a name, so that nothing is left of it
        file.truncate(mmap.PAGESIZE)
        mapped = mmap.mmap(file.fileno(), mmap.PAGESIZE, access=mmap.ACCESS_READ)
        file.truncate(0)
        mapped[0]  # the kernel answers with SIGBUS


PROCESS_BUS_ERROR = Fault(
    name="process-bus-error",
    point="invoke",
    says="the process reads a mapped file that was cut off in one run, and dies of SIGBUS",
    scope=Scope.PROCESS,
    strike=_strike,
    kills=True,
)
