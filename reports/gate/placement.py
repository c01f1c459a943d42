"""Which delegate did the work: fallback, the share of nodes, and whether the figures agree with themselves."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from reports.gate.question import Grounds, Question
from reports.gate.refusal import Code
from reports.schema import Delegate

__all__ = ["placement"]


def placement(question: Question) -> Grounds:
    """Yield what is wrong with the delegate."""
    delegate = question.receipt.delegate
    problem = _inconsistency(delegate)
    if problem:
        yield Code.PLACEMENT_INCONSISTENT, f"{problem}: the figures cannot be relied on, run the suite again"
    if question.require.delegate.fallback == "deny" and (reason := _fallback(delegate)):
        yield (
            Code.DELEGATE_FELL_BACK,
            f"{reason}: make {delegate.requested} start on that device, or allow the fallback",
        )
    yield from _share(question)


def _inconsistency(delegate: Delegate) -> str:
    """Say what contradicts what, empty where nothing does."""
    placed = sum(part.nodes for part in delegate.placement)
    if placed != delegate.graph_nodes or not placed:
        return f"the graph has {delegate.graph_nodes} nodes, and {placed} are placed"
    for part in delegate.placement:
        if part.partitions > part.nodes or (part.nodes and not part.partitions):
            return f"{part.on} has {part.nodes} nodes in {part.partitions} partitions"
    if not any(part.on == delegate.actual and part.nodes for part in delegate.placement):
        return f"{delegate.actual} is said to have taken part, and no node is placed on it"
    return ""


def _fallback(delegate: Delegate) -> str:
    """Say how it is known that the delegate fell back, empty where it did not. Not knowing counts as a fallback."""
    if delegate.evidence.strip().lower() in {"", "unknown"}:
        return "how the placement was learned is unknown, which counts as a fallback"
    if not isinstance(delegate.init_error, msgspec.UnsetType):
        return f"{delegate.requested} did not start ({delegate.init_error})"
    if delegate.actual != delegate.requested:
        return f"{delegate.requested} was asked for, {delegate.actual or 'nothing'} took part"
    if delegate.fallback:
        return f"{delegate.requested} was asked for, and the run says that it fell back"
    return f"{delegate.fallback_events} runs fell back from {delegate.requested}" if delegate.fallback_events else ""


def _share(question: Question) -> Grounds:
    delegate, asked = question.receipt.delegate, question.require.delegate
    nodes = sum(part.nodes for part in delegate.placement if part.on == asked.name)
    least = question.loaded.min_node_shares[question.require.id]
    # Multiplied out, for a quotient such as 1/3 has no exact decimal.
    if Decimal(nodes) < least * delegate.graph_nodes or (least and not nodes):
        yield (
            Code.DELEGATE_SHARE,
            (
                f"{asked.name} ran {nodes} of {delegate.graph_nodes} nodes, "
                f"the policy asks for a share of {asked.min_node_share}"
            ),
        )
