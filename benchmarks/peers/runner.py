"""What every runner file shares: one request a line on standard input, one answer a line on standard output."""

from __future__ import annotations

import json
import os
import sys
from typing import NamedTuple, Protocol

__all__ = ["Explore", "Found", "serve"]


class Found(NamedTuple):
    """What an exploration came to. `reason` is empty if nothing failed; `note` says what a reader must know."""

    executions: int
    seconds: float
    reason: str = ""
    note: str = ""


class Explore(Protocol):
    """Runs a variant of the queue for so many seconds, and ends at the first failure if `stop`."""

    def __call__(self, kind: str, seconds: float, seed: int, *, stop: bool) -> Found:
        """Explore."""
        ...


def serve(explore: Explore) -> None:
    """Answer until the input ends. What the tool itself prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        found = explore(request["kind"], request["seconds"], request["seed"], stop=request["stop"])
        answers.write(json.dumps(found._asdict()) + "\n")
    os._exit(0)  # threads that a bug left behind must not keep the process
