"""What this process has of each resource now. Linux tells all of it; elsewhere only Python's own memory is known."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Resources", "read_resources"]

_TASKS = Path("/proc/self/task")
_FILES = Path("/proc/self/fd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """One reading. None is what this system does not tell.

    `heap` is what the C library has handed out and not got back, in bytes; `resident` is in bytes, too, and moves by
    whole pages, when the allocator likes. `blocks` counts Python's own allocations.
    """

    threads: int | None
    files: int | None
    heap: int | None
    resident: int | None
    blocks: int


class _Mallinfo2(ctypes.Structure):
    """`struct mallinfo2` of glibc 2.33 and newer."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def read_resources() -> Resources:
    """Collect garbage, then read. Takes some milliseconds."""
    gc.collect()
    return Resources(
        threads=_entries(_TASKS),
        # The listing has a descriptor of its own.
        files=None if (files := _entries(_FILES)) is None else files - 1,
        heap=_heap(),
        resident=_resident(),
        blocks=sys.getallocatedblocks(),
    )


def _entries(folder: Path) -> int | None:
    try:
        return len(os.listdir(folder))  # noqa: PTH208 - the names need not become paths
    except OSError:
        return None


def _heap() -> int | None:
    """What malloc has handed out: in its arenas and, for large pieces, in mappings of their own."""
    if not sys.platform.startswith("linux"):
        return None
    mallinfo2 = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo2 is None:
        return None
    mallinfo2.restype = _Mallinfo2
    told = mallinfo2()
    return int(told.uordblks) + int(told.hblkhd)


def _resident() -> int | None:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
