"""Recovery of one slot whose device or context failed, step by step, in the one order that is safe.

    mark -> ask -> isolate -> wake -> confirm -> invalidate -> reclaim -> collect -> rebuild -> neighbours

A run that takes too long walks all of it: the first four steps on the clock's thread, while the call is inside native
code; the rest on the slot's worker, once the call has returned. There is one owner at a time: the clock has let go of a
recovery before the worker touches it (`Run.giving_up`). A run that failed has returned: `mark`, `confirm` and `wake`
come first then, all on the worker. Where `confirm` is followed by `keep` the health check vouched for the session.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from adapters.base import Scope, scope_of
from harness.service.clock import monotonic

__all__ = ["Recovery", "RecoveryRecord", "Step"]


class Step(StrEnum):
    """What is done, one after the other."""

    MARK = "mark"  # its tasks count as failed; nothing else is given to the session
    ASK = "ask"  # the runtime was asked to end the call
    ISOLATE = "isolate"  # nobody waits for the call: the slot stays out of use until it returns
    WAKE = "wake"  # the tasks' outcomes are there, and who waited has been woken
    CONFIRM = "confirm"  # the call has returned: the device works for this slot no more
    KEEP = "keep"  # the health check vouches for the session
    INVALIDATE = "invalidate"  # the session is out of use, and so is what the run wrote
    RECLAIM = "reclaim"  # the session is released, with its buffers
    COLLECT = "collect"  # what is known of the failure has been put together
    REBUILD = "rebuild"  # there is a new session, or a fallback; or the slot is lost
    NEIGHBOURS = "neighbours"  # the other slots look at their own sessions before they run again


_NEXT: dict[Step | None, tuple[Step, ...]] = {
    None: (Step.MARK,),
    Step.MARK: (Step.ASK, Step.ISOLATE, Step.CONFIRM),
    Step.ASK: (Step.ISOLATE,),
    Step.ISOLATE: (Step.WAKE,),
    Step.WAKE: (Step.CONFIRM, Step.INVALIDATE),
    Step.CONFIRM: (Step.WAKE, Step.KEEP, Step.INVALIDATE),
    Step.INVALIDATE: (Step.RECLAIM, Step.COLLECT),  # nothing is reclaimed where the release fails
    Step.RECLAIM: (Step.COLLECT,),
    Step.COLLECT: (Step.REBUILD, Step.NEIGHBOURS),  # a slot whose release failed is not rebuilt
    Step.REBUILD: (Step.NEIGHBOURS,),
    Step.KEEP: (Step.NEIGHBOURS,),
    Step.NEIGHBOURS: (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryRecord:
    """What is known of one failure: no text, no path, nothing of a task's arrays.

    `error` is its class, by which `frozen()` has the events around it; `code` and `dump` are what the adapter's error
    says, a number or name of the driver's and a reference to what it wrote down, None where it says nothing. `timeline`
    has each step until the record was made, with the time of `time.monotonic`.
    """

    slot: int
    task_id: str | None
    error: str
    scope: Scope
    code: int | str | None
    dump: str | None
    timeline: tuple[tuple[Step, float], ...]


class Recovery:
    """How far one slot's recovery is. `tell` hears each step as it is reached."""

    def __init__(
        self,
        slot: int,
        error: BaseException,
        task_id: str | None,
        tell: Callable[[int, str], None],
        *,
        timed_out: bool = False,
    ) -> None:
        self.slot = slot
        self.scope = scope_of(error) or Scope.CONTEXT  # of an unknown error the session's state is unknown
        self.timed_out = timed_out
        self._error = error
        self._task_id = task_id
        self._tell = tell
        self._at: Step | None = None
        self._timeline: list[tuple[Step, float]] = []

    def reach(self, step: Step) -> None:
        """Go on to a step. Raises AssertionError where the order forbids it."""
        assert step in _NEXT[self._at], f"recovery: {step} after {self._at}"
        assert not self.has(step), f"recovery: a second {step}"
        assert step is not Step.INVALIDATE or self.has(Step.CONFIRM), "recovery: the call has not returned"
        self._at = step
        self._timeline.append((step, monotonic()))
        self._tell(self.slot, step.value)

    def has(self, step: Step) -> bool:
        """Whether a step has been reached."""
        return any(step is reached for reached, _ in self._timeline)

    def collect(self) -> RecoveryRecord:
        """Put together what is known."""
        self.reach(Step.COLLECT)
        error = self._error
        return RecoveryRecord(
            slot=self.slot,
            task_id=self._task_id,
            error=type(error).__name__,
            scope=self.scope,
            code=getattr(error, "code", None),
            dump=getattr(error, "dump", None),
            timeline=tuple(self._timeline),
        )
