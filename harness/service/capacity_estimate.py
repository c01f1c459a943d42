"""How much memory a service needs for the requests it has accepted: an estimate that a receipt can record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

__all__ = ["CapacityEstimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityEstimate:
    """`weights` + the sum over live requests of (`base` + `per_unit` x length) + `reserve`, in bytes.

    A request is live from its admission until its last native call has returned. `length` is what makes one request
    larger than another, in a unit of the caller's choice: tokens, rows of a batch, pixels, samples. `weights` are paid
    once, whatever is live: model, runtime, arenas of the open sessions. `reserve` is what nobody may plan with: other
    parts of the process, fragmentation, a burst of the runtime's own.

    Integers only, so that the same figures give the same bytes in every receipt. Raises TypeError or ValueError for
    values that make no estimate.
    """

    weights: int
    base: int
    per_unit: int = 0
    reserve: int = 0

    def __post_init__(self) -> None:
        for name, least in (("weights", 0), ("base", 1), ("per_unit", 0), ("reserve", 0)):
            # A request that costs nothing would fit any number of times: that is no estimate but the lack of one.
            _check(name, getattr(self, name), least)

    def request(self, length: int = 0) -> int:
        """Bytes of one live request of that length."""
        _check("length", length, 0)
        return self.base + self.per_unit * length

    def total(self, lengths: Iterable[int] = ()) -> int:
        """Bytes of everything, with requests of these lengths live."""
        return self.weights + self.reserve + sum(self.request(length) for length in lengths)

    def fits_live(self, lengths: Iterable[int], limit: int) -> bool:
        """Whether requests of these lengths can be live together within `limit` bytes."""
        return self.total(lengths) <= limit

    def most_live(self, length: int, limit: int) -> int:
        """How many requests of one length can be live together within `limit` bytes; 0 if not even the weights fit."""
        return max(0, limit - self.total()) // self.request(length)

    def record(self) -> dict[str, int]:
        """The four figures by name, as a receipt keeps them."""
        return asdict(self)


def _check(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"{name} must be an integer, not {type(value).__name__}"
        raise TypeError(message)
    if value < least:
        message = f"{name} must be at least {least}, not {value}"
        raise ValueError(message)
