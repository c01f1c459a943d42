"""The process gets no more memory during one call: what asks for some is refused by the system itself.

The limit on the address space (RLIMIT_AS) is put at what the process has, and what is free inside of that is taken.
Blocks below 4 KiB are left, because the interpreter needs some to say what happened. A call that needs no block of
that size comes through, and then the fault has not struck. Linux alone: elsewhere every call comes through.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from harness.faults.fault import Fault, Scope

__all__ = ["MEMORY_CAP", "no_more_memory"]

_LARGEST, _SMALLEST = 1 << 24, 1 << 12


@contextmanager
def no_more_memory() -> Generator[None]:
    """Let nobody in this process have a block of 4 KiB or more, for the length of a block of code."""
    import resource  # noqa: PLC0415 - not on every platform

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken: list[bytearray] = []
    resource.setrlimit(resource.RLIMIT_AS, (_address_space(), hard))
    try:
        size = _LARGEST
        while size >= _SMALLEST:
            try:
                taken.append(bytearray(size))
            except MemoryError:
                size //= 2
        yield
    finally:
        taken.clear()
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    """What the process has mapped, in bytes."""
    return int(Path("/proc/self/statm").read_bytes().split()[0]) * mmap.PAGESIZE


@contextmanager
def _around() -> Generator[None]:
    if sys.platform != "linux":
        yield
        return
    try:
        with no_more_memory():
            yield
    except Exception as error:
        vars(error)["scope"] = Scope.CONTEXT.value
        raise


MEMORY_CAP = Fault(
    name="memory-cap",
    point="session-open",
    says="the process gets no more memory while one session opens; the runtime says what it says then",
    scope=Scope.CONTEXT,
    around=_around,
    comes_through="refused nothing: no call that it waited for asked for a block of 4 KiB"
    if sys.platform == "linux"
    else "refused nothing: it is for Linux alone",
)
