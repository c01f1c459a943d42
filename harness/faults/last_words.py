"""What a worker says just before a fault that it may not survive, so that its death can be told from others.

A line on standard error, because nothing else is sure to leave a process that dies. It names a fault and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from harness.faults.catalogue import FAMILIES

__all__ = ["injected_before", "say_last_words"]

_SAYS = "racegate: injects "


def say_last_words(fault: str) -> None:
    """Say which fault is about to strike."""
    os.write(2, f"\n{_SAYS}{fault}\n".encode())


def injected_before(last_words: Iterable[str]) -> str:
    """The fault that was the last to be said so, empty for none. Whatever else is on the lines counts for nothing."""
    said = [line.removeprefix(_SAYS) for line in last_words if line.startswith(_SAYS)]
    return next((name for name in reversed(said) if name in FAMILIES), "")
