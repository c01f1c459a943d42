"""Every invariant there is a checker for, and the one function that judges a history by all of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.history import History
from harness.invariants import (
    buffer_until_return,
    callback_safe,
    capacity,
    close_once,
    closed_rejects,
    contract_first,
    counters_true,
    delegate_truth,
    evidence_true,
    expires_on_time,
    fault_contained,
    fresh_only,
    input_frozen,
    no_deadlock,
    no_delivery_after_cancel,
    one_task_per_session,
    one_version,
    order,
    output_owned,
    own_output,
    owner_thread,
    private,
    quarantine,
    recovery_order,
    release_after_drain,
    residency,
    terminal_once,
    timeout_is_a_wait,
)
from harness.invariants.index import Index
from harness.invariants.judgement import Invariant, Judgement
from harness.verdict import Violation

__all__ = ["CATALOGUE", "check_all"]

CATALOGUE: Mapping[str, Invariant] = MappingProxyType(
    {
        module.INVARIANT.id: module.INVARIANT
        for module in (
            own_output,
            terminal_once,
            no_delivery_after_cancel,
            closed_rejects,
            close_once,
            release_after_drain,
            capacity,
            one_task_per_session,
            owner_thread,
            input_frozen,
            output_owned,
            buffer_until_return,
            contract_first,
            timeout_is_a_wait,
            expires_on_time,
            order,
            fresh_only,
            one_version,
            delegate_truth,
            quarantine,
            recovery_order,
            residency,
            fault_contained,
            no_deadlock,
            callback_safe,
            counters_true,
            evidence_true,
            private,
        )
    }
)
"""By id, in the order of the documentation."""

_PER_SERVICE = frozenset({"closed-rejects", "close-once", "capacity", "order", "recovery-order"})
"""Invariants about one service's submits, closes and sessions: an event does not say which service it is about."""


def check_all(history: History) -> dict[str, Judgement]:
    """Judge a history by every invariant. Never raises: a checker that does has judged nothing, which is unknown.

    What a script expected is a check of the invariant that it names, also of one that has no checker here.
    """
    try:
        index = Index(history)
    except Exception as error:  # noqa: BLE001 - a history that cannot be read is unknown to every checker
        crash = _crash(error)
        judgements = dict.fromkeys(CATALOGUE, crash)
    else:
        judgements = {id_: _judge(invariant, index) for id_, invariant in CATALOGUE.items()}
        expectations = index.kinds.get("expectation")
        if expectations is None:
            return judgements
    _add_expectations(history, judgements)
    return judgements


def _judge(invariant: Invariant, index: Index) -> Judgement:
    try:
        if index.several_services and invariant.id in _PER_SERVICE:
            return Judgement(0, (), "several services were open in one execution")
        return invariant.check(index)
    except Exception as error:  # noqa: BLE001 - a checker that crashes gives unknown, never a pass
        return _crash(error)


def _crash(error: Exception) -> Judgement:
    return Judgement(0, (), f"checker crashed: {type(error).__name__}")


def _add_expectations(history: History, judgements: dict[str, Judgement]) -> None:
    for event in history.events:
        if event.kind != "expectation":
            continue
        invariant = str(event.attrs.get("invariant"))
        before = judgements.get(invariant, Judgement(0))
        violations = before.violations
        if not event.attrs.get("met"):
            message = f"the script expected otherwise: {event.attrs.get('says')}"
            violations = (*violations, Violation(invariant, message, (event.seq,)))
        judgements[invariant] = Judgement(before.checked + 1, violations, before.unknown)
