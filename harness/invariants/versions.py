"""Which version of the model ran a task, and which may have: by the sessions, which know what they were opened from."""

from __future__ import annotations

from harness.history import Attr
from harness.invariants.index import FOREVER, Call, Index, Task

__all__ = ["FIRST_VERSION", "end_of", "models_of", "switches", "versions_of"]

FIRST_VERSION = "v1"
"""Of the sessions that name none: those of the opener that the service was made with."""


def switches(index: Index) -> list[Call]:
    """The calls that may have switched the model, in order of their begins."""
    return [call for call in index.calls("model-switch") if not call.answered("refused")]


def versions_of(index: Index, task: Task) -> list[Attr]:
    """The versions that ran the task, in order of its runs; empty where nobody knows."""
    found: list[Attr] = []
    for run in task.runs:
        opened = index.sessions[run.first.session or ""].opened
        if opened is not None and run.invoke_begin is not None:
            found.append(opened.begin.attrs.get("version", FIRST_VERSION))
    return found


def models_of(index: Index, task: Task) -> list[Attr]:
    """The models, `first` or `next`, that ran the task, in order of its runs, as `versions_of` has the versions."""
    opened = [index.sessions[run.first.session or ""].opened for run in task.runs if run.invoke_begin is not None]
    return [call.begin.attrs.get("model", "first") for call in opened if call is not None]


def end_of(call: Call) -> int:
    """When a call was over."""
    return FOREVER if call.end is None else call.end.seq
