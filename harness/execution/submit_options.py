"""The options of one submit: those that the service takes, and what the history says of them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.execution.configuration import Setup, in_ms
from harness.history import Attr

if TYPE_CHECKING:
    from harness.execution.client import ControlledClientTask

__all__ = ["SubmitOptions"]

_NEEDS = {
    "request_class": "classes",
    "deadline": "deadline",
    "priority": "priority",
    "key": "overflow:coalesce",
    "retry_of": "retry-link",
    "timeout": "overflow:block",
    "context": "freshness",
    "payload_ref": "journal",
}
"""The capability without which a service never gets the option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitOptions:
    """What a script asked for, times in seconds. None was not asked for."""

    request_class: str | None = None
    deadline: float | None = None
    priority: int | None = None
    key: Hashable = None
    retry_of: ControlledClientTask | None = None
    timeout: float | None = None
    context: int | None = None
    payload_ref: str | None = None

    def taken_by(self, capabilities: frozenset[str]) -> dict[str, Any]:
        """The options that are given and that the service takes, by name."""
        given = {name: getattr(self, name) for name in _NEEDS}
        taken = {name: value for name, value in given.items() if value is not None and _NEEDS[name] in capabilities}
        if "retry_of" in taken:
            taken["retry_of"] = taken["retry_of"].future
            if taken["retry_of"] is None:
                del taken["retry_of"]  # the first was refused: there is no task to try again
        return taken

    def attrs(self, setup: Setup, taken: dict[str, Any], keys: dict[Hashable, int]) -> dict[str, Attr]:
        """What `submit-begin` says: what is in force, whether the caller chose it or its class did."""
        name = taken.get("request_class", "default")
        attrs: dict[str, Attr] = {}
        if "request_class" in taken:
            attrs["class"] = name
        deadline = taken.get("deadline", setup.seconds(name, "deadline"))
        if deadline is not None:
            attrs["deadline_ms"] = in_ms(deadline)
        priority = taken.get("priority", setup.priority(name))
        if priority is not None:
            attrs["priority"] = priority
        attrs |= _marks(taken)
        if "key" in taken:
            attrs["key"] = keys.setdefault(taken["key"], len(keys) + 1)
        if "retry_of" in taken and self.retry_of is not None:
            attrs["retry_of"] = self.retry_of.task
        if setup.overflow(name) == "block":
            attrs["timeout_ms"] = in_ms(taken.get("timeout", setup.seconds(name, "block_seconds")))
        return attrs


def _marks(taken: dict[str, Any]) -> dict[str, Attr]:
    """What is recorded as it is, and what only that it was given."""
    marks: dict[str, Attr] = {"context": taken["context"]} if "context" in taken else {}
    return marks | ({"must_finish": True} if "payload_ref" in taken else {})
