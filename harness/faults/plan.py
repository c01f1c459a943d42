"""The fault plan of one execution: what is armed, and what has struck."""

from __future__ import annotations

from collections import Counter

from harness.faults.catalogue import FAMILIES
from harness.faults.fault import Fault

__all__ = ["FaultPlan"]


class _Armed:
    """A fault that waits for its call."""

    def __init__(self, fault: Fault, point: str, nth: int) -> None:
        self.fault = fault
        self.point = point
        self.left = nth

    def strikes(self, *, fallback: bool) -> bool:
        """Count one call at the point and say whether the fault strikes it."""
        if fallback and self.fault.spares_fallback:
            return False
        self.left -= 1
        return self.left == 0 or (self.fault.persistent and self.left < 0)


class FaultPlan:
    """Touched by the thread that holds the token alone."""

    def __init__(self) -> None:
        self._armed: list[_Armed] = []
        self.injected: Counter[str] = Counter()

    def arm(self, name: str, point: str | None, nth: int) -> None:
        """Arm a fault for the nth call at its point. Raises ValueError for a name that the catalogue lacks."""
        fault = FAMILIES.get(name)
        if fault is None:
            message = f"no fault {name!r}: `racegate list faults` names them"
            raise ValueError(message)
        self._armed.append(_Armed(fault, point or fault.point, nth))

    def at(self, point: str, *, fallback: bool = False) -> Fault | None:
        """Count a call at a point and return the fault that strikes it."""
        for armed in self._armed:
            if armed.point == point and armed.strikes(fallback=fallback):
                self.injected[armed.fault.name] += 1
                return armed.fault
        return None
