"""What a service counts."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ServiceCounters"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCounters:
    """A consistent snapshot: what is so now, and what has happened so far.

    Now: places taken by `waiting` tasks, the depth of the queue, of which those that share a run take one; runs that
    are `running`; `live_tasks` have no outcome yet; `buffers` are the sets of input arrays that the service holds,
    those of abandoned runs included; `open_slots` have a session, a runtime's context; `usable_slots` are not lost;
    `abandoned` runs are in flight that nobody waits for. So far: tasks `accepted`, `expired` and `replaced`;
    `late_results` dropped; `fallbacks` opened; `release_errors`; the class of the `last_error` that a task ended with.
    """

    accepted: int
    waiting: int
    running: int
    live_tasks: int
    buffers: int
    open_slots: int
    usable_slots: int
    fallbacks: int
    release_errors: int
    expired: int
    replaced: int
    late_results: int
    abandoned: int
    last_error: str | None
