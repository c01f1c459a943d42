"""What passes a pipeline, and what a pipeline may be made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeAlias

from adapters.base import Arrays
from harness.service.hold import Hold, check_apart
from harness.service.requests import OverflowPolicy

__all__ = ["Item", "Stage", "check_pipeline"]

Stage: TypeAlias = Callable[[Any, Hold], Any]
"""Takes what the stage before returned (the first: what was submitted) and the buffer; its result goes to the next."""

_POLICIES = (OverflowPolicy.BLOCK, OverflowPolicy.REJECT, OverflowPolicy.REPLACE_OLDEST)


@dataclass(slots=True, eq=False)  # what was submitted may be arrays, which cannot be compared
class Item:
    """One accepted item. `buffer` is which one it has, from the first stage to its outcome, -1 before."""

    value: Any
    future: Future[Any]
    entered: float
    buffer: int = -1
    committed: bool = False
    failure: BaseException | None = None


def check_pipeline(
    stages: Mapping[str, Stage], buffers: Sequence[Arrays], overflow: OverflowPolicy, backlog: int, commits: str
) -> None:
    """Raise ValueError for what makes no pipeline."""
    if commits not in ("", *stages):
        message = f"no stage is called {commits!r}"
        raise ValueError(message)
    if not stages or not buffers or backlog < 1:
        message = "a pipeline needs at least one stage, one buffer and one place to wait"
        raise ValueError(message)
    if overflow not in _POLICIES:
        message = f"overflow must be one of {', '.join(_POLICIES)}, not {overflow!r}"
        raise ValueError(message)
    check_apart(buffers)
