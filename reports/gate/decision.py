"""The decision: requirements drive the loop, and one refusal beats any number of passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from harness.verdict import Verdict
from reports.digests import canonical
from reports.gate.consistency import consistency, missing_seeds
from reports.gate.coverage import coverage
from reports.gate.placement import placement
from reports.gate.provenance import provenance
from reports.gate.question import Question, Testimony
from reports.gate.reading import read_receipt
from reports.gate.refusal import Code, Refusal
from reports.gate.selection import mismatches
from reports.instants import format_instant
from reports.policy import LoadedPolicy, PolicyError, Require

__all__ = ["Answer", "Decision", "ReceiptNote", "WaiverNote", "decide"]

ALLOWED, DENIED = 0, 1


class Part(Struct, frozen=True, kw_only=True, rename="camel"):
    """What every part of a decision is."""


class Answer(Part, frozen=True, kw_only=True):
    """One requirement, with the run ids of the receipts that answered it."""

    requirement: str
    satisfied: bool
    runs: tuple[str, ...]


class ReceiptNote(Part, frozen=True, kw_only=True):
    """One receipt that could be believed. A high attempt, or a previous receipt, is for a person to see."""

    name: str
    receipt_id: str
    run_id: str
    verdict: str
    attempt: int
    signers: tuple[str, ...]
    answers: tuple[str, ...]


class WaiverNote(Part, frozen=True, kw_only=True):
    """A scenario that did not pass and was let through on a person's word."""

    scenario: str
    requirement: str
    run_id: str
    verdict: str
    approver: str
    reason: str
    until: str


class Decision(Part, frozen=True, kw_only=True):
    """What the gate decided and why. `advisory` changes what is printed and the exit code, never the decision."""

    schema: Literal["gate-decision/1"] = "gate-decision/1"
    decision: Literal["ALLOW", "DENY"]
    advisory: bool
    policy: str
    policy_sha256: str
    decided_on: str
    models: tuple[str, ...]
    requirements: tuple[Answer, ...]
    receipts: tuple[ReceiptNote, ...]
    waivers: tuple[WaiverNote, ...]
    refusals: tuple[Refusal, ...]

    @property
    def exit_code(self) -> int:
        """0 for allow, 1 for deny; 0 in an advisory run, whose text says WOULD DENY."""
        return DENIED if self.decision == "DENY" and not self.advisory else ALLOWED

    def to_json(self) -> bytes:
        """The bytes of `decision.json`, canonical."""
        return canonical(msgspec.to_builtins(self)) + b"\n"


class _Judged(Struct, frozen=True, kw_only=True):
    """One requirement after its loop."""

    require: Require
    answered: tuple[Question, ...]
    refusals: tuple[Refusal, ...]


def decide(
    loaded: LoadedPolicy,
    receipts: Sequence[tuple[str, bytes]],
    models: Iterable[str],
    now: datetime,
    *,
    challenge: str | None = None,
    advisory: bool = False,
) -> Decision:
    """Decide over receipts, given as (name, bytes), for the models whose sha256 are `models`.

    A receipt that cannot be believed denies, whatever it may have been about. A receipt that answers no requirement's
    question changes nothing. Every receipt that answers one must meet it. `now` is aware. Raises PolicyError where
    several models are given and a requirement does not say which it is about.
    """
    given = frozenset(models)
    _check_models(loaded, given)
    readings = [read_receipt(name, data, loaded) for name, data in receipts]
    testimonies = _distinct(reading for reading in readings if isinstance(reading, Testimony))
    judged = [
        _judge(
            [
                Question(testimony=each, require=require, loaded=loaded, now=now, models=given, challenge=challenge)
                for each in testimonies
            ],
            require,
        )
        for require in loaded.policy.require
    ]
    refusals = (
        *_about_policy(loaded, now, given),
        *(refusal for reading in readings if not isinstance(reading, Testimony) for refusal in reading),
        *(refusal for each in judged for refusal in each.refusals),
    )
    return Decision(
        decision="DENY" if refusals else "ALLOW",
        advisory=advisory,
        policy=loaded.policy.id,
        policy_sha256=loaded.sha256,
        decided_on=format_instant(now),
        models=tuple(sorted(given)),
        requirements=tuple(_answer(each) for each in judged),
        receipts=tuple(_note(testimony, judged) for testimony in testimonies),
        waivers=tuple(note for each in judged for question in each.answered for note in _waived(question)),
        refusals=refusals,
    )


def _check_models(loaded: LoadedPolicy, models: frozenset[str]) -> None:
    if len(models) <= 1:
        return
    for require in loaded.policy.require:
        if require.model_sha256 is None:
            # Else a second model could ship on the first one's receipts.
            message = (
                f"require[{require.id}].model_sha256: missing; {len(models)} models are given, so say which it is about"
            )
            raise PolicyError(message)


def _distinct(testimonies: Iterable[Testimony]) -> list[Testimony]:
    """Keep one of each receipt: the same payload given twice is one receipt."""
    return list({testimony.receipt_id: testimony for testimony in testimonies}.values())


def _about_policy(loaded: LoadedPolicy, now: datetime, models: frozenset[str]) -> Iterable[Refusal]:
    policy = loaded.policy
    if now >= loaded.expires:
        yield Refusal(code=Code.POLICY_EXPIRED, message=f"the policy ended on {policy.expires}: review it and renew it")
    if not policy.require:
        yield Refusal(
            code=Code.POLICY_EMPTY, message="the policy requires nothing: add a [[require]] for what must be shown"
        )
    pinned = {require.model_sha256 for require in policy.require}
    for model in sorted(models - pinned) if policy.require and None not in pinned else ():
        message = (
            f"no requirement asks about the model {model[:12]}: add one with that model_sha256, or leave the model out"
        )
        yield Refusal(code=Code.NO_RECEIPT, message=message)


def _judge(questions: Sequence[Question], require: Require) -> _Judged:
    apart = [(question, tuple(mismatches(question))) for question in questions]
    answered = tuple(question for question, differences in apart if not differences)
    if not answered:
        return _Judged(require=require, answered=(), refusals=tuple(_unanswered(apart, require)))
    refusals = [refusal for question in answered for refusal in _examine(question)]
    refusals.extend(
        Refusal(code=code, message=message, requirement=require.id) for code, message in missing_seeds(answered)
    )
    return _Judged(require=require, answered=answered, refusals=tuple(refusals))


def _unanswered(apart: Sequence[tuple[Question, tuple[tuple[Code, str], ...]]], require: Require) -> Iterable[Refusal]:
    """NO_RECEIPT, and how the receipt that comes nearest differs from what is asked."""
    message = (
        f"no receipt answers the requirement {require.id!r}: run the suite for it and give the receipt to the gate"
    )
    yield Refusal(code=Code.NO_RECEIPT, message=message, requirement=require.id)
    if apart:
        nearest, differences = min(apart, key=lambda pair: len(pair[1]))
        for code, text in differences:
            yield _refusal(nearest, code, text)


def _examine(question: Question) -> Iterable[Refusal]:
    for check in (provenance, placement, coverage, consistency):
        for code, message in check(question):
            yield _refusal(question, code, message)


def _refusal(question: Question, code: Code, message: str) -> Refusal:
    return Refusal(code=code, message=message, receipt=question.testimony.name, requirement=question.require.id)


def _answer(judged: _Judged) -> Answer:
    runs = tuple(question.receipt.run_id for question in judged.answered)
    return Answer(requirement=judged.require.id, satisfied=bool(runs) and not judged.refusals, runs=runs)


def _note(testimony: Testimony, judged: Sequence[_Judged]) -> ReceiptNote:
    return ReceiptNote(
        name=testimony.name,
        receipt_id=testimony.receipt_id,
        run_id=testimony.predicate.run_id,
        verdict=testimony.predicate.verdict,
        attempt=testimony.predicate.attempt,
        signers=tuple(sorted(testimony.signers)),
        answers=tuple(
            each.require.id for each in judged if any(question.testimony is testimony for question in each.answered)
        ),
    )


def _waived(question: Question) -> Iterable[WaiverNote]:
    for entry in question.receipt.scenarios:
        waiver = question.waiver(entry.id)
        if waiver is not None and entry.verdict != Verdict.PASS:
            yield WaiverNote(
                scenario=entry.id,
                requirement=question.require.id,
                run_id=question.receipt.run_id,
                verdict=entry.verdict,
                approver=waiver.approver,
                reason=waiver.reason,
                until=waiver.until,
            )
