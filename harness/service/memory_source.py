"""Where memory figures come from: the process's own cgroup, version 2, or else the process itself."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

__all__ = ["CgroupMemory", "MemoryEvents", "MemoryReading", "MemorySource", "ProcessMemory", "find_memory_source"]

_CGROUPS = Path("/sys/fs/cgroup")
_PROC = Path("/proc/self")
_NO_LIMIT = "max"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEvents:
    """What the kernel has done so far, from `memory.events`: how often it throttled, hit the limit, ran out, killed."""

    high: int = 0
    max: int = 0
    oom: int = 0
    oom_kill: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReading:
    """One look at the memory. Bytes; None is not known.

    `used` can fall again, unless `is_peak`: some systems tell only the most that there ever was. `limit` is where the
    kernel would act: throttle, reclaim or kill. `source` says in a few words what was read.
    """

    source: str
    used: int | None = None
    limit: int | None = None
    is_peak: bool = False
    events: MemoryEvents = MemoryEvents()


class MemorySource(Protocol):
    """Read on whichever thread asks for admission, one at a time, with the gate's lock held. Must not raise."""

    def read(self) -> MemoryReading:
        """Look now."""
        ...


class CgroupMemory:
    """A cgroup of version 2 and those above it, of which the fullest counts: a limit on a parent kills just as well.

    `used` is `memory.current` without the `inactive_file` of `memory.stat`: that is file cache which the kernel gives
    back before it does anything else, and reading a large model file must not look like pressure. The kubelet evicts by
    the same figure. `limit` is the lower of `memory.high` and `memory.max`.
    """

    def __init__(self, folder: Path, root: Path) -> None:
        self._folders = [each for each in (folder, *folder.parents) if each == root or root in each.parents]

    def read(self) -> MemoryReading:
        """The fullest level; a level whose figures cannot be read does not count."""
        readings = [reading for folder in self._folders if (reading := _level(folder)) is not None]
        if not readings:
            return MemoryReading(source="cgroup v2, not readable")
        # A parent's events count what befell its other children, too: only the process's own say that it was hit.
        return replace(max(readings, key=_fullness), events=readings[0].events)


class ProcessMemory:
    """Resident memory of this process from `/proc/self/statm`, else its peak; the limit is the machine's.

    A process among others can run into the machine's limit long before it has used that much by itself: give the gate a
    limit of its own.
    """

    def __init__(self, proc: Path = _PROC) -> None:
        self._statm = proc / "statm"

    def read(self) -> MemoryReading:
        """What the process has now, or the most that it ever had."""
        limit = _physical()
        try:
            resident = int(self._statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError, AttributeError):
            peak = _peak()
            source = "process peak (getrusage)" if peak is not None else "none"
            return MemoryReading(source=source, used=peak, limit=limit, is_peak=True)
        return MemoryReading(source="process (statm)", used=resident, limit=limit)


def find_memory_source(root: Path = _CGROUPS, proc: Path = _PROC) -> MemorySource:
    """The process's cgroup if it is of version 2 and has a memory controller, else the process.

    A machine with both versions mounts version 2 without the memory controller: there the process is read.
    """
    try:
        lines = (proc / "cgroup").read_text().splitlines()
    except OSError:
        return ProcessMemory(proc)
    for line in lines:
        number, _, path = line.split(":", 2) if line.count(":") >= 2 else ("", "", "")  # noqa: PLR2004 - id:controllers:path
        source = CgroupMemory(root / path.lstrip("/"), root)
        if number == "0" and ".." not in path and source.read().used is not None:
            return source
    return ProcessMemory(proc)


def _level(folder: Path) -> MemoryReading | None:
    current = _number(folder / "memory.current")
    if current is None:
        return None
    limits = [limit for name in ("high", "max") if (limit := _number(folder / f"memory.{name}")) is not None]
    events = _table(folder / "memory.events")
    return MemoryReading(
        source="cgroup v2",
        used=max(0, current - _table(folder / "memory.stat").get("inactive_file", 0)),
        limit=min(limits, default=None),
        events=MemoryEvents(**{name: events.get(name, 0) for name in MemoryEvents.__slots__}),
    )


def _fullness(reading: MemoryReading) -> float:
    if reading.used is None or reading.limit is None:
        return -1.0
    return reading.used / max(1, reading.limit)


def _number(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
        return None if text == _NO_LIMIT else int(text)
    except (OSError, ValueError):
        return None


def _table(file: Path) -> dict[str, int]:
    try:
        pairs = [line.split() for line in file.read_text().splitlines()]
        return {name: int(value) for name, value in pairs}
    except (OSError, ValueError):
        return {}


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _peak() -> int | None:
    try:
        import resource  # noqa: PLC0415 - not there on every system
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024  # bytes there, KiB elsewhere
