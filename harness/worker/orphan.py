"""A worker does not outlive its supervisor, not even inside native code."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Mapping

__all__ = ["SUPERVISOR", "die_with_supervisor"]

SUPERVISOR = "RACEGATE_SUPERVISOR"
"""The variable by which a supervisor tells a worker its process id."""
_PR_SET_PDEATHSIG = 1


def die_with_supervisor(environment: Mapping[str, str]) -> None:
    """Have the kernel kill this process with SIGKILL when the supervisor dies, whatever it does then.

    Linux alone, and only a direct child of the supervisor. Elsewhere, and behind a command such as ssh, a worker ends
    when it next reads from its standard input or writes an answer.
    """
    told = environment.get(SUPERVISOR, "")
    if sys.platform != "linux" or str(os.getppid()) != told:
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if str(os.getppid()) != told:  # it died before the kernel was asked, and no signal will come
        os.kill(os.getpid(), signal.SIGKILL)
