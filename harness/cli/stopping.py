"""Ctrl-C and SIGTERM: the first stops the run in order, the second at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager

from harness.cli.main import UNDECIDED
from harness.supervisor.switch import StopSwitch

__all__ = ["stopping"]


@contextmanager
def stopping(switch: StopSwitch) -> Generator[None]:
    """Let the signals pull the switch for the length of a block. Main thread only."""

    def handle(_number: int, _frame: object) -> None:
        again = switch.pulled
        switch.pull()
        if again:
            os._exit(UNDECIDED)  # nothing half written is left: receipts are moved into place whole

    previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
