"""Where the command line writes."""

from __future__ import annotations

import sys

__all__ = ["IncompleteError", "UsageError", "complain", "say"]


class UsageError(Exception):
    """The user asked for something that does not exist or cannot be. One line; exit 2."""


class IncompleteError(Exception):
    """What was asked for could not be finished, and that is nobody's mistake: a full disk. One line; exit 3."""


def say(text: str = "") -> None:
    """Write a line to standard output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"racegate: {text}\n")
    sys.stderr.flush()
