"""Which observed events a checker may see in another order without judging otherwise.

A search that leaves out what it has seen in another order must know which orders matter. For the code under test that
is told by its locks, queues and shared state; for the checkers it is told here. Each event accesses some things; two
events in one group of a thing commute there, two in different groups do not, and those of the group "" never do. What
the checkers compare, and so what stands here:

- everything about one task, about one session, and about one slot, in its order;
- `places`: the begins of submits, their ends, and whatever frees or takes a place or ends a task. `capacity` counts
  places, and what a task delivers is called stale by the tasks that had ended when it was submitted. Where a worker
  took a task is a dequeue; the steps of runs stand for it until one has been told;
- `asked to close`: the begin of a close with what may be explained by it;
- `told to be closing`: a state that the service told with that, and with submits that begin afterwards;
- `refused as closed`: such a refusal with submits that begin afterwards;
- `closed`: the end of a close with whatever must not come after it.

A kind that is not known here commutes with nothing, nor does the end of a task by time or in favour of another. A test
lets neighbours that commute change places, in the histories of every scenario and of every specimen, and compares what
the checkers say.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Attr

__all__ = ["accesses"]

_RUNS = tuple(f"{step}-{side}" for step in ("bind", "invoke", "fetch") for side in ("begin", "end"))
_TURNOVER = "taken or freed"
_AFTER = "the rest"
_BY_OTHERS = frozenset({"EXPIRED", "REPLACED"})
_GROUPS: dict[str, dict[str, str]] = {
    "actor-begin": {},
    "actor-end": {},
    "wait-begin": {},
    "wait-end": {},
    "input-overwritten": {},
    "output-rechecked": {},
    "lease-begin": {},
    "lease-end": {},
    "interrupt": {},
    "in-native": {},
    "submit-begin": {
        "places": "asked for", "told to be closing": _AFTER, "refused as closed": _AFTER, "closed": _AFTER,
    },
    "submit-end": {"places": "answered", "asked to close": _AFTER},
    "dequeue": {"places": ""},
    "cancel-begin": {"places": _TURNOVER},
    "cancel-end": {"places": _TURNOVER, "asked to close": _AFTER, "told to be closing": _AFTER},
    "deliver": {"places": _TURNOVER, "asked to close": _AFTER, "told to be closing": _AFTER},
    "session-close-begin": {"closed": _AFTER},
    "session-close-end": {"closed": _AFTER},
    "service-close-begin": {"asked to close": "", "told to be closing": _AFTER},
    "service-close-end": {"closed": ""},
    "state": {"told to be closing": "", "asked to close": _AFTER},
} | {step: {"closed": _AFTER} for step in _RUNS}  # fmt: skip


def accesses(
    kind: str, task: object, session: str | None, slot: str | None, attrs: dict[str, Attr], *, tells: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield (thing, group) of each access. `tells`: a dequeue was told before, in this execution."""
    for thing, name in (("task", task), ("session", session), ("slot", slot)):
        if isinstance(name, str):
            yield f"{thing} {name}", ""
    groups = _GROUPS.get(kind)
    run = kind in _RUNS
    stray = run and task is None  # a run on an input that nobody submitted may be anybody's
    if groups is None or stray or attrs.get("outcome") in _BY_OTHERS:
        yield "all", ""
        return
    yield "all", "known"
    yield from groups.items()
    if run and not tells:
        yield "places", _TURNOVER
    if attrs.get("refusal") == "closed":
        yield "refused as closed", ""
