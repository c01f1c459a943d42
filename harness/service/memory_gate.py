"""Admission by memory: takes fewer requests as a limit nears, so that the kernel has no reason to act."""

from __future__ import annotations

import math
import threading  # noqa: TID251 - the gate owns its lock
import time  # noqa: TID251 - how old a reading may be is the gate's own
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import ClassVar, Literal, Self, TypeAlias

from harness.service.capacity_estimate import CapacityEstimate
from harness.service.errors import ServiceError
from harness.service.memory_source import MemoryReading, MemorySource, find_memory_source

__all__ = ["GateConfig", "GateCounters", "MemoryGate", "MemoryPressureError", "PressureReason", "Ticket"]

PressureReason: TypeAlias = Literal["concurrency", "estimate", "too-large", "watermark"]


class MemoryPressureError(ServiceError):
    """The gate did not admit the request; nothing was accepted. `retry_after` is in seconds, None where none helps.

    `reason` is `concurrency` (as many requests are live as the capacity allows now), `estimate` (by the estimate it
    does not fit beside those), `watermark` (too much memory is used) or `too-large` (by the estimate it never fits).
    """

    refusal: ClassVar[str] = "unhealthy"

    def __init__(self, reason: PressureReason, retry_after: float | None) -> None:
        super().__init__(f"no request is admitted now: {reason}")
        self.reason: PressureReason = reason
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """When the gate admits. Raises ValueError for a rule that cannot be followed.

    `most_live` bounds the requests that are live at once. `low` and `high` are fractions of the limit: up to `low` all
    of `most_live`, from `high` on none. `margin` is how far pressure must fall before capacity grows again. `limit`, in
    bytes, stands in for the source's where that is unknown or higher. A reading is used for `period` seconds.
    """

    estimate: CapacityEstimate
    most_live: int
    low: float = 0.75
    high: float = 0.9
    margin: float = 0.05
    limit: int | None = None
    period: float = 0.05
    retry_after: float = 1.0

    def __post_init__(self) -> None:
        if self.most_live < 1:
            message = f"most_live must be at least 1, not {self.most_live}"
            raise ValueError(message)
        if not 0 < self.low < self.high <= 1 or not 0 <= self.margin < self.high:
            message = "the watermarks must be 0 < low < high <= 1, with a margin from 0 to below high"
            raise ValueError(message)

    def capacity_at(self, pressure: float) -> int:
        """How many requests may be live at that fraction of the limit: a line from `most_live` at `low` to 0 at `high`.

        Rounded up, so that at least one is admitted below `high`: a service that admits nobody can free nothing either.
        """
        share = (self.high - pressure) / (self.high - self.low)
        # Rounded first: 0.9 - 0.7 is a little more than half of 0.9 - 0.5 in binary, and that is not one request more.
        return math.ceil(round(self.most_live * min(1.0, max(0.0, share)), 9))


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCounters:
    """A consistent snapshot. `live_bytes` is what the live requests are estimated to need."""

    live: int
    live_bytes: int
    capacity: int
    pressure: float | None
    admitted: int
    refused: dict[str, int]
    reading: MemoryReading


class Ticket:
    """One admitted request, until `release`, or until the end of a `with` block."""

    __slots__ = ("_gate", "cost")

    def __init__(self, gate: MemoryGate, cost: int) -> None:
        self._gate = gate
        self.cost = cost

    def release(self) -> None:
        """The request's memory is free: its last native call has returned, not merely its future.

        From any thread; releasing twice is one release.
        """
        self._gate.release(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()


class MemoryGate:
    """Gives out tickets while memory lasts. Any thread may call; nothing is called with the lock held but the source.

    Three rules, all of which must hold. The concurrency: fewer requests are live than the capacity at this pressure.
    The estimate: weights, live requests, the new one and the reserve fit the limit. The watermark: what is used now,
    with what was admitted since that reading and may not be allocated yet, stays below `high`.

    Pressure counts at once when it rises and `margin` late when it falls (the play operator of hysteresis), so that
    a figure that trembles around a step does not open and shut the gate. If the kernel killed for memory in this cgroup
    since the last reading, nothing is admitted until a later reading is calm. Where nothing tells the memory in use, or
    only its peak, which never falls, the concurrency and the estimate alone decide.
    """

    def __init__(self, config: GateConfig, source: MemorySource | None = None) -> None:
        self.config = config
        self._lock = threading.Lock()
        self._source = find_memory_source() if source is None else source
        self._live: set[Ticket] = set()
        self._live_bytes = self._admitted = 0  # `_live_bytes` is the sum of the costs in `_live`
        self._since_reading = 0  # bytes admitted after the reading was taken
        self._pressure: float | None = None  # with hysteresis; None is unknown
        self._refused: Counter[str] = Counter()
        self._reading = self._source.read()
        self._read_at = time.monotonic()
        self._weigh(self._reading.events.oom_kill)

    def admit(self, length: int = 0) -> Ticket:
        """Admit a request of that length (see CapacityEstimate), or raise MemoryPressureError; never blocks."""
        cost = self.config.estimate.request(length)
        ticket = Ticket(self, cost)
        with self._lock:
            self._look()
            reason = self._refusal(cost)
            if reason is not None:
                self._refused[reason] += 1
                raise MemoryPressureError(reason, None if reason == "too-large" else self.config.retry_after)
            self._live.add(ticket)
            self._live_bytes += cost
            self._since_reading += cost
            self._admitted += 1
        return ticket

    def release(self, ticket: Ticket) -> None:
        """What `Ticket.release` does."""
        with self._lock:
            if ticket in self._live:
                self._live.remove(ticket)
                self._live_bytes -= ticket.cost

    def capacity(self) -> int:
        """How many requests may be live now."""
        with self._lock:
            self._look()
            return self._capacity()

    def counters(self) -> GateCounters:
        """Return a consistent snapshot, as of the last reading."""
        with self._lock:
            return GateCounters(
                live=len(self._live),
                live_bytes=self._live_bytes,
                capacity=self._capacity(),
                pressure=self._pressure,
                admitted=self._admitted,
                refused=dict(self._refused),
                reading=self._reading,
            )

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._read_at < self.config.period:
            return
        killed = self._reading.events.oom_kill
        self._reading = self._source.read()
        self._read_at = now
        self._since_reading = 0
        self._weigh(killed)

    def _weigh(self, killed_before: int) -> None:
        """Take the reading into the pressure."""
        reading, limit = self._reading, self._limit()
        if reading.used is None or reading.is_peak or limit is None:
            self._pressure = None
            return
        measured = reading.used / limit
        before = measured if self._pressure is None else self._pressure
        self._pressure = max(measured, min(before, measured + self.config.margin))
        if reading.events.oom_kill > killed_before:
            self._pressure = max(1.0, self._pressure)

    def _limit(self) -> int | None:
        known = [limit for limit in (self.config.limit, self._reading.limit) if limit is not None]
        return max(1, min(known)) if known else None

    def _capacity(self) -> int:
        return self.config.most_live if self._pressure is None else self.config.capacity_at(self._pressure)

    def _refusal(self, cost: int) -> PressureReason | None:
        capacity, limit = self._capacity(), self._limit()
        alone = self.config.estimate.total() + cost
        if limit is not None and alone > limit:
            return "too-large"
        if capacity == 0 or self._over_watermark(cost, limit):
            return "watermark"
        if len(self._live) >= capacity:
            return "concurrency"
        if limit is not None and alone + self._live_bytes > limit:
            return "estimate"
        return None

    def _over_watermark(self, cost: int, limit: int | None) -> bool:
        if self._pressure is None or self._reading.used is None or limit is None:
            return False
        return self._reading.used + self._since_reading + cost > self.config.high * limit
