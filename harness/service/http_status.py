"""What to answer over HTTP for a refusal or an outcome, for those who put a server in front of a service."""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
from dataclasses import dataclass
from typing import Any

from adapters.base import ContractError
from harness.service.errors import RunBudgetError, SlotLostError
from harness.service.memory_gate import MemoryPressureError

__all__ = ["HttpAnswer", "http_answer"]

_BY_REFUSAL = {"full": 429, "unhealthy": 503, "closed": 503}
_BY_OUTCOME = {"EXPIRED": 504, "REPLACED": 429, "CANCELLED": 499}
_BY_REASON = {"concurrency": 429, "too-large": 413}
_BY_CLASS: tuple[tuple[type[BaseException], int], ...] = (
    (RunBudgetError, 504),
    (SlotLostError, 503),
    (concurrent.futures.CancelledError, 499),
    (asyncio.CancelledError, 499),
    (TimeoutError, 504),
    (ContractError, 400),
)
_OTHER = 500


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A status code, and the value of the Retry-After header in whole seconds, None for no such header."""

    status: int
    retry_after: int | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that go with the status."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}


def http_answer(error: BaseException | None) -> HttpAnswer:
    """The answer for what `submit` or a future's `result` raised, None for a result. Pure; never raises.

    | what happened | status |
    |---|---|
    | a result | 200 |
    | the queue is full (`refusal` is `full`), or the gate's concurrency is used up | 429 Too Many Requests |
    | a newer request took the place (`outcome` is `REPLACED`) | 429, never with Retry-After: it is out of date |
    | closed, unhealthy (both by `refusal`), no memory, no slot left (SlotLostError) | 503 Service Unavailable |
    | a deadline, a run budget or a wait was over (`outcome` is `EXPIRED`, RunBudgetError, TimeoutError) | 504 |
    | the client cancelled (CancelledError, `outcome` is `CANCELLED`) | 499, nginx's code for a client that has gone |
    | the request alone needs more memory than there is (MemoryPressureError, `too-large`) | 413 Content Too Large |
    | an input breaks the model's contract (ContractError) | 400 Bad Request |
    | anything else | 500 |

    The attributes are read from any service's errors; without them the class decides. Retry-After goes with 429 and 503
    and is the error's own `retry_after` (seconds), rounded up and at least 1, so that nobody comes back too early or
    at once.
    """
    if error is None:
        return HttpAnswer(200)
    status = _status(error)
    if status not in {429, 503} or getattr(error, "outcome", None) == "REPLACED":
        return HttpAnswer(status)
    return HttpAnswer(status, _whole_seconds(getattr(error, "retry_after", None)))


def _status(error: BaseException) -> int:
    if isinstance(error, MemoryPressureError):
        return _BY_REASON.get(error.reason, 503)
    for table, attribute in ((_BY_OUTCOME, "outcome"), (_BY_REFUSAL, "refusal")):
        told = getattr(error, attribute, None)
        if isinstance(told, str) and told in table:
            return table[told]
    return next((status for kind, status in _BY_CLASS if isinstance(error, kind)), _OTHER)


def _whole_seconds(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return max(1, math.ceil(value))
