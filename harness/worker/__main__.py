"""The worker process: `python -P -m harness.worker`, started by the supervisor or by a person over ssh."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys

from harness.worker.loop import serve
from harness.worker.operations import operations
from harness.worker.orphan import die_with_supervisor

__all__ = ["main"]


def main() -> int:
    """Serve requests on standard input and output until the supervisor is done. Returns the exit status."""
    die_with_supervisor(os.environ)
    faulthandler.disable()
    _no_core_files()
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    # A service given as `package.module:Name` is looked up in the working directory too, but after everything else: a
    # user's `queue.py` must not replace the standard library's.
    sys.path.append(os.getcwd())  # noqa: PTH109 - a path entry is a string
    with _private(0, os.O_RDONLY) as requests, _private(1, os.O_WRONLY) as replies:
        return serve(requests, replies, operations())


def _private(fd: int, flags: int):  # noqa: ANN202 - a buffered reader or writer, by flags
    """Move a standard stream out of reach: native libraries print to descriptor 1, and user code may read from 0.

    Descriptor 1 then leads to standard error, descriptor 0 to nothing.
    """
    own = os.dup(fd)  # not inheritable, so no child can hold the wire open
    if fd == 0:
        nothing = os.open(os.devnull, flags)
        os.dup2(nothing, fd)
        os.close(nothing)
    else:
        os.dup2(2, fd)
    return os.fdopen(own, "rb" if flags == os.O_RDONLY else "wb")


def _no_core_files() -> None:
    """A worker that dies is a result; it leaves no file behind."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every platform

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    # Native libraries abort in their own destructors when threads are left; all has been said by now.
    os._exit(status)
