"""What a worker's death did to another process: the supervisor asks, since nobody else is left to."""

from __future__ import annotations

import msgspec

from harness.faults.catalogue import FAMILIES
from harness.history import Event, History
from harness.invariants.fault_contained_elsewhere import judge_elsewhere
from harness.invariants.index import Index
from harness.observe.neighbour import Look
from harness.verdict import CellResult, InvariantTally

__all__ = ["outlived"]

_INVARIANT = "fault-contained"
_WELL = "; another process on the device went on, with its own outputs"


def outlived(result: CellResult, fault: str, look: Look) -> CellResult:
    """Add to the result of a cell whose worker died of a fault how the neighbour was just afterwards."""
    family = FAMILIES[fault]
    struck = {"fault": fault, "point": family.point, "scope": family.scope.value}
    seen = {"moment": "after", "fresh": look.fresh, "in_flight": look.in_flight}
    events = (
        Event(0, 0, "supervisor", "fault-injected", attrs=struck),
        Event(1, 0, "supervisor", "process-look", attrs=seen),
    )
    judged = judge_elsewhere(Index(History("controlled", events)), [events[0]], _INVARIANT)
    said = judged.violations[0].message if judged.violations else judged.unknown
    tally = InvariantTally(_INVARIANT, judged.checked, len(judged.violations), judged.unknown)
    return msgspec.structs.replace(
        result, reason=result.reason + (f"; {said}" if said else _WELL), invariants=(tally,), process_looks=1
    )
