"""Applies only fresh results: the newest context wins, and nothing ever goes back."""

from __future__ import annotations

import logging
import threading  # noqa: TID251 - the subscriber owns its lock
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["FreshSubscriber", "Offered", "Staleness", "VersionedResult"]

_LOGGER = logging.getLogger(__name__)

Staleness: TypeAlias = Literal["older-context", "older-model", "superseded"]
Offered: TypeAlias = Staleness | Literal["applied", "handed-over"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedResult:
    """A result and what it was computed from.

    `context_version` is the caller's, a number that only grows: of a frame, of a keystroke, of a document's state.
    `model_version` is the service's, a number that only grows or a name. None where there is one model for ever.
    """

    task_id: str
    context_version: int
    model_version: int | str | None
    outputs: Any


class FreshSubscriber:
    """Calls `apply(result)` for fresh results, one at a time, with no lock held, and never for an older one afterwards.

    A result is fresh if its context is newer than the last one applied (or the same one, by a newer model) and not
    older than `expect` has asked for, and its model is the current one. `switched_to` tells which that is, or else the
    first result. Of models with numbers a higher one is current as soon as a result shows it; names have no order, so
    that with names `switched_to` must be called before the service is switched.

    One thread applies at a time: whoever offers while another applies leaves the result to it, and only the newest is
    kept. Deciding under the lock and applying after it, each thread for itself, would apply context 4 after context 5,
    if the thread with 4 was interrupted in between. `apply` runs on a thread that called `offer`; one that raises is
    logged by class and counted.

    Any thread may call. A callback may call back, too.
    """

    def __init__(self, apply: Callable[[VersionedResult], None]) -> None:
        self._apply = apply
        self._idle = threading.Condition(threading.Lock())
        # Under the lock: what was applied last or is being applied, the newest that waits, and what is too old.
        self._last: VersionedResult | None = None
        self._next: VersionedResult | None = None
        self._applier: threading.Thread | None = None
        self._least_context: int | None = None
        self._model: int | str | None = None
        self._counts: Counter[str] = Counter()

    def offer(self, result: VersionedResult) -> Offered:
        """Apply the result if it is fresh, or say why it was not.

        `handed-over`: another thread is applying and takes it next, unless something newer comes first.
        """
        with self._idle:
            stale = self._staleness(result) or ("older-context" if self._is_behind(result) else None)
            if stale is not None:
                self._counts[stale] += 1
                return stale
            if self._next is not None:
                self._counts["superseded"] += 1
                self._next = None
            if self._model is None or isinstance(result.model_version, int):
                self._model = result.model_version  # not an older one, or it were stale
            if self._applier is not None:
                self._next = result
                return "handed-over"
            self._applier = threading.current_thread()
            self._take(result)
        self._apply_from(result)
        return "applied"

    def follow(self, future: Future[Any], context: int | None = None, model_version: int | str | None = None) -> None:
        """Offer the future's result when it is there, on the thread that gives it its outcome; no result, no offer.

        Versions come from the future (`context`, `model_version`) where it has them, else from here.
        """

        def done(ended: Future[Any]) -> None:
            if ended.cancelled() or ended.exception() is not None:
                with self._idle:
                    self._counts["without-result"] += 1
                return
            self.offer(
                VersionedResult(
                    task_id=str(getattr(ended, "task_id", "")),
                    context_version=_first(getattr(ended, "context", None), context) or 0,
                    model_version=_first(getattr(ended, "model_version", None), model_version),
                    outputs=ended.result(),
                )
            )

        future.add_done_callback(done)

    def expect(self, context: int) -> None:
        """From now on only this context or a newer one is of interest: the user typed on. It waits as `switched_to`."""
        with self._idle:
            if self._least_context is None or context > self._least_context:
                self._least_context = context
            self._settle()

    def switched_to(self, model_version: int | str) -> None:
        """From now on this model answers, or one with a higher number; a lower number than the current one is ignored.

        When it returns, no result of an older model is being applied and none will be. For that it waits for an `apply`
        under way, except inside of one: call it holding nothing that `apply` needs.
        """
        with self._idle:
            if not _is_older(model_version, self._model) or isinstance(model_version, str):
                self._model = model_version
            self._settle()

    def counters(self) -> dict[str, int]:
        """How many were applied, and how many dropped for each reason; `errors` counts callbacks that raised."""
        names = ("applied", "older-context", "older-model", "superseded", "without-result", "errors")
        with self._idle:
            return {name: self._counts[name] for name in names}

    def _settle(self) -> None:
        """Under the lock: wait until no older result is being applied."""
        if self._applier is threading.current_thread():
            return
        self._idle.wait_for(self._applies_nothing_stale)

    def _applies_nothing_stale(self) -> bool:
        return self._applier is None or self._last is None or self._staleness(self._last) is None

    def _staleness(self, result: VersionedResult) -> Staleness | None:
        if _is_older(result.model_version, self._model):
            return "older-model"
        if self._least_context is not None and result.context_version < self._least_context:
            return "older-context"
        return None

    def _is_behind(self, result: VersionedResult) -> bool:
        ahead = [other for other in (self._last, self._next) if other is not None]
        return any(_is_ahead(other, result) for other in ahead)

    def _take(self, result: VersionedResult) -> None:
        self._last = result
        self._counts["applied"] += 1

    def _apply_from(self, first: VersionedResult) -> None:
        """On the one thread that applies: the first, and whatever is handed over meanwhile."""
        result: VersionedResult | None = first
        try:
            while result is not None:
                self._call(result)
                result = self._pop()
        except BaseException:
            with self._idle:
                self._applier = None  # what waits is superseded by the next offer, or lost as this thread is
                self._idle.notify_all()
            raise

    def _call(self, result: VersionedResult) -> None:
        try:
            self._apply(result)
        except Exception as error:  # noqa: BLE001 - a subscriber's mistake must not end a service's worker
            _LOGGER.error("a subscriber raised %s", type(error).__name__)  # noqa: TRY400 - its traceback is its own
            with self._idle:
                self._counts["errors"] += 1

    def _pop(self) -> VersionedResult | None:
        """Decide and take under one lock, and leave the applier's place in the same step as finding nothing."""
        with self._idle:
            result, self._next = self._next, None
            stale = None if result is None else self._staleness(result)
            if stale is not None:
                self._counts[stale] += 1
                result = None
            if result is not None:
                self._take(result)
            else:
                self._applier = None
            self._idle.notify_all()
            return result


def _is_older(version: int | str | None, current: int | str | None) -> bool:
    if current is None:
        return False
    if isinstance(version, int) and isinstance(current, int):
        return version < current
    return version != current


def _is_ahead(other: VersionedResult, result: VersionedResult) -> bool:
    """Of the same context, the current model's result goes before another one's."""
    if other.context_version == result.context_version:
        return other.model_version == result.model_version
    return other.context_version > result.context_version


def _first(*versions: Any) -> Any:
    return next((version for version in versions if version is not None), None)
