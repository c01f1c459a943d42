"""The thread that starts every worker.

A worker asks the kernel to be killed when its parent dies, and for the kernel a parent is a thread: a worker that was
started by a thread of a run would die when that thread ends. This one lives as long as the process.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

__all__ = ["spawn"]

_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")


def spawn(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, with three pipes. Called from any thread. Raises OSError."""
    return _THREAD.submit(_spawn, list(command), dict(environment), _cores()).result()


def _cores() -> set[int] | None:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None


def _spawn(command: list[str], environment: dict[str, str], cores: set[int] | None) -> subprocess.Popen[bytes]:
    if cores is not None:
        os.sched_setaffinity(0, cores)  # a process may use the cores of whoever asks for it, not those of this thread
    return subprocess.Popen(  # noqa: S603 - the command is the target's own
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        env=environment,
    )
