"""The history of one execution: what was observed, in order, at boundaries that the harness owns.

Payloads never enter it. A task is known by its TaskId, an output by how it compares with the oracle's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

__all__ = ["Attr", "Event", "History", "Mode"]

Attr: TypeAlias = bool | int | str | None
Mode: TypeAlias = Literal["controlled", "stress"]


class Event(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One observed fact.

    `seq` orders events (totally in a controlled execution, per thread under stress), `at_ns` is virtual time in
    nanoseconds, `thread` and `session` are logical names, `task` is a TaskId such as `t3`. `kind` is one of the strings
    listed in `docs/history.md`; calls come as `KIND-begin` and `KIND-end`, matched by `attrs["call"]`.
    """

    seq: int
    at_ns: int
    thread: str
    kind: str
    task: str | None = None
    session: str | None = None
    slot: str | None = None
    attrs: Mapping[str, Attr] = {}


class History(msgspec.Struct, frozen=True):
    """The ordered whole, with the mode that says what its order means."""

    mode: Mode
    events: tuple[Event, ...]

    def precedes(self, a: Event, b: Event) -> bool:
        """Say whether `a` certainly happened before `b`.

        Under stress `seq` is taken from one counter at the moment of recording, after a call's end and before its
        begin, so an end recorded before a begin orders the two calls; nothing else across threads does.
        """
        if a.seq >= b.seq:
            return False
        if self.mode == "controlled" or a.thread == b.thread:
            return True
        return not a.kind.endswith("-begin") and not b.kind.endswith("-end")

    def digest(self) -> str:
        """The sha256 over the canonical events, in hex: equal digests mean equal executions."""
        return hashlib.sha256(msgspec.json.encode(self.events, order="deterministic")).hexdigest()
