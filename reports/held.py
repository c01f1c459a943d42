"""Folders that a living process holds, so that what a killed one left behind can be told apart and removed."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep  # noqa: TID251 - other processes are waited for in real time

__all__ = ["HeldFolder", "hold", "new_held_folder", "remove_left_over"]

_UNLOCKED = -1
LET_GO_S = 1.0
"""How long a process that was killed may take to let go, on a machine that has much else to do."""
LOOK_S = 0.02


class HeldFolder:
    """A folder that is this process's until `release`. The system releases it when the process dies, however it dies.

    Where the file system has no locks the folder is used all the same: then nobody can tell that it was left behind,
    and nobody removes it.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def release(self) -> None:
        """Let others hold it. Safe to call again."""
        if self._descriptor != _UNLOCKED:
            os.close(self._descriptor)
            self._descriptor = _UNLOCKED

    def rename(self, name: str) -> None:
        """Give the folder another name in its parent, in one step. Raises OSError."""
        self.path = self.path.rename(self.path.with_name(name))

    def remove(self) -> None:
        """Remove the folder with what is in it, then let go. What cannot be removed stays."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.release()


def new_held_folder(parent: Path, prefix: str) -> HeldFolder:
    """Make a folder of a fresh name in `parent`, held. Raises OSError."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        descriptor = os.open(path, os.O_RDONLY)
        try:
            _lock(descriptor, wait=True)
        except OSError:
            os.close(descriptor)
            return HeldFolder(path, _UNLOCKED)
        if path.exists():
            return HeldFolder(path, descriptor)
        os.close(descriptor)  # between its making and its locking somebody took it for left behind


def hold(path: Path, seconds: float = LET_GO_S) -> HeldFolder | None:
    """Hold a folder that is there. None where a living process holds it, where it has gone or nobody can tell.

    Waits so long for a process that was killed: it lets go when it has come to its end, and when the child that it was
    just starting has: until that runs a program of its own, it has everything open that its parent had.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    if not _locked(descriptor, monotonic() + seconds):
        os.close(descriptor)
        return None
    if path.exists():
        return HeldFolder(path, descriptor)
    os.close(descriptor)
    return None


def remove_left_over(parent: Path, pattern: str) -> int:
    """Remove the folders of this pattern that no living process holds. Returns how many there were."""
    removed = 0
    for path in sorted(parent.glob(pattern)):
        held = hold(path)
        if held is not None:
            held.remove()
            removed += 1
    return removed


def _locked(descriptor: int, deadline: float) -> bool:
    """Lock an open folder by then, if that can be."""
    while True:
        try:
            _lock(descriptor, wait=False)
        except BlockingIOError:
            if monotonic() > deadline:
                return False
            sleep(LOOK_S)
        except OSError:
            return False  # there are no locks here
        else:
            return True


def _lock(descriptor: int, *, wait: bool) -> None:
    """Lock an open folder. Raises OSError where it is locked and `wait` is False, and where there are no locks."""
    with suppress(ImportError):
        import fcntl  # noqa: PLC0415 - not on every platform

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return
    raise OSError(0, "no locks here")
