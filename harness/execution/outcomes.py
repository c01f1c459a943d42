"""What an error means that a service raised: an outcome of the task, or why a submit was refused."""

from __future__ import annotations

from harness.history import Attr

__all__ = ["outcome_kind", "refusal_attrs", "refusal_kind"]

_REFUSALS = frozenset({"full", "closed", "contract", "journal", "unhealthy"})


def outcome_kind(error: BaseException) -> str:
    """EXPIRED or REPLACED where the error says so by its `outcome`, else FAILED."""
    declared = getattr(error, "outcome", None)
    return declared if isinstance(declared, str) and declared in {"EXPIRED", "REPLACED"} else "FAILED"


def refusal_attrs(error: BaseException) -> dict[str, Attr]:
    """What `submit-end` says of a refusal."""
    attrs: dict[str, Attr] = {"answer": "refused", "refusal": refusal_kind(error), "error": type(error).__name__}
    hint = getattr(error, "retry_after", None)
    if isinstance(hint, (int, float)):
        attrs["retry_after_ms"] = round(hint * 1000)
    return attrs


def refusal_kind(error: BaseException) -> str:
    """What a refusal means: by our service's errors, `queue.Full`, or the `refusal` attribute of a user's own."""
    declared = getattr(error, "refusal", None)
    if isinstance(declared, str) and declared in _REFUSALS:
        return declared
    names = {kind.__name__ for kind in type(error).__mro__}
    for name, kind in (
        ("QueueFullError", "full"),
        ("Full", "full"),
        ("ServiceClosedError", "closed"),
        ("ServiceUnhealthyError", "unhealthy"),
        ("ContractError", "contract"),
    ):
        if name in names:
            return kind
    return "unclassified"
