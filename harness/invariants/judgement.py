"""What a checker is and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from harness.invariants.index import Index
from harness.verdict import Violation

__all__ = ["NOT_OCCURRED", "Checker", "Invariant", "Judgement"]


class Judgement(msgspec.Struct, frozen=True):
    """What one checker found in one history.

    `checked` is how often the invariant's premise occurred. `unknown` says why something could not be judged, and is
    empty if all of it could; violations count all the same.
    """

    checked: int
    violations: tuple[Violation, ...] = ()
    unknown: str = ""


NOT_OCCURRED = Judgement(0)
"""The premise did not occur: neither a pass nor a failure."""

Checker: TypeAlias = Callable[[Index], Judgement]
"""A pure function. It may raise: whoever calls it turns that into an unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """What must hold: the id that receipts show, one sentence, and the checker."""

    id: str
    statement: str
    check: Checker
