"""What a run remembers cell by cell, so that another run can finish it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

import msgspec

from harness.oracle.expectations import Expectations
from harness.suite.plan import Cell
from harness.verdict import CellResult, DeviceRecord
from harness.worker.protocol import Description

__all__ = ["FORGETFUL", "Journal", "content_digest", "pair_facts"]


class Journal(Protocol):
    """Keeps the results of cells. Called from several threads; raises OSError where it cannot be written."""

    def begin(self, key: str, pair: str, facts: Mapping[str, str], started_on: str) -> str:
        """Begin a pair or go on with it; returns when it was first begun.

        `key` tells it from the others, `pair` names it for a person; `facts` are what its results rest on. Raises
        PlanError where they are not those of the run that began it.
        """
        ...

    def recall(self, cell: Cell) -> CellResult | None:
        """Return the result that an earlier run kept; None where the cell is still to be run."""
        ...

    def keep(self, cell: Cell, result: CellResult) -> None:
        """Keep a result: when this returns, no death of this process loses it."""
        ...


class _Forgetful:
    """Keeps nothing."""

    def begin(self, key: str, pair: str, facts: Mapping[str, str], started_on: str) -> str:
        del key, pair, facts
        return started_on

    def recall(self, cell: Cell) -> CellResult | None:
        del cell

    def keep(self, cell: Cell, result: CellResult) -> None:
        del cell, result


FORGETFUL: Journal = _Forgetful()


def content_digest(content: object) -> str:
    """The sha256, in hex, of anything that msgspec writes as JSON."""
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()


def pair_facts(device: DeviceRecord, description: Description, expected: Expectations) -> dict[str, str]:
    """Everything that a worker says its results rest on, by a name for a person: digests, never the thing itself."""
    scenarios = {f"the scenario {each.reference}": content_digest(each) for each in description.scenarios}
    return {
        "the device": content_digest(device),
        "the service's source": content_digest(description.service),
        "the runtime": content_digest(expected.runtime),
        "the delegate": content_digest(expected.delegate),
        "the expected outputs": content_digest(expected),
        **scenarios,
    }
