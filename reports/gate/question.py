"""What every check is asked: one receipt that can be believed, one requirement, and the time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from reports.gate.refusal import Code
from reports.policy import LoadedPolicy, Require, Waiver
from reports.schema import Predicate

__all__ = ["Grounds", "Question", "Testimony"]

Grounds: TypeAlias = Iterator[tuple[Code, str]]
"""What a check yields: a code and one line, for each reason to refuse; nothing where there is none."""


class Testimony(Struct, frozen=True, kw_only=True):
    """A receipt that a trusted key signed and that follows the schema. `receipt_id` is the payload's sha256."""

    name: str
    receipt_id: str
    model: str
    signers: frozenset[str]
    started: datetime
    finished: datetime
    predicate: Predicate


class Question(Struct, frozen=True, kw_only=True):
    """Does this testimony meet this requirement, under this policy, now? `challenge` is what the caller asked for."""

    testimony: Testimony
    require: Require
    loaded: LoadedPolicy
    now: datetime
    models: frozenset[str]
    challenge: str | None = None

    @property
    def receipt(self) -> Predicate:
        """The predicate, which most checks are about."""
        return self.testimony.predicate

    def waiver(self, scenario: str) -> Waiver | None:
        """The waiver in force for a scenario on this model, if there is one."""
        for waiver, until in zip(self.loaded.policy.waiver, self.loaded.waivers_until, strict=True):
            if waiver.scenario == scenario and self.now < until and waiver.model_sha256 in {None, self.testimony.model}:
                return waiver
        return None
