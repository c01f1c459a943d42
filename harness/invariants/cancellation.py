"""Why a task may have ended CANCELLED."""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import Index, Task

__all__ = ["cancel_explained", "close_explains"]


def cancel_explained(index: Index, task: Task, seen: Event) -> bool:
    """Whether a cancel or a closing service explains that `task` was CANCELLED when `seen` was recorded.

    A cancel that has not answered may have taken effect. A close that drains runs the tasks it has, so it explains only
    one whose submit it overlaps; one that drains for a time, or any other, may drop tasks.
    A service may also close itself, if it says so.
    """
    if any(call.end is None or call.end.attrs["answer"] for call in task.cancels):
        return True
    return close_explains(index, task, seen) or _dropped_by_switch(index, task, seen)


def close_explains(index: Index, task: Task, seen: Event) -> bool:
    """Whether a closing service, and no cancel, may have dropped `task` by then."""
    return _dropped_by_close(index, task, seen) or _closed_itself(index, seen)


def _dropped_by_close(index: Index, task: Task, seen: Event) -> bool:
    submitted = task.submit.end
    for call in index.closes:
        begin = call.begin
        if begin.seq > seen.seq:
            continue
        drains = begin.attrs.get("drain") is True and "deadline_ms" not in begin.attrs
        if not drains or submitted is None or submitted.seq > begin.seq:
            return True
    return False


def _dropped_by_switch(index: Index, task: Task, seen: Event) -> bool:
    """Whether a switch of the model, which was to cancel what waits for the old one, may have dropped the task."""
    for call in index.calls("model-switch"):
        drops = call.begin.attrs["pending"] == "cancel" or "deadline_ms" in call.begin.attrs
        over = call.end is not None and call.end.seq < task.submit.begin.seq
        if drops and call.begin.seq < seen.seq and not call.answered("refused") and not over:
            return True
    return False


def _closed_itself(index: Index, seen: Event) -> bool:
    asked = index.closes[0].begin.seq if index.closes else seen.seq
    return any(event.attrs["state"] != "accepting" and event.seq < min(asked, seen.seq) for event in index.of("state"))
