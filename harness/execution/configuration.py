"""What a script sets a service up with: the configuration that the factory gets, and what the history says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.base import Session
from harness.execution.services import Factory
from harness.history import Attr
from harness.scenario import ClassOptions
from harness.service.config import DelegatePolicy, Opening, ServiceConfig
from harness.service.observer import Observer
from harness.service.requests import Ordering, OverflowPolicy, RequestClass

__all__ = ["FIRST_VERSION", "Setup", "in_ms"]

FIRST_VERSION = "v1"
"""What a service is told that it is opened with, where it can be switched."""

_ORDERS = ("fifo", "priority", "earliest-deadline", "fair-share")
_OVERFLOW = "overflow:"


def in_ms(seconds: float | None) -> int:
    """Whole milliseconds; -1 for None."""
    return -1 if seconds is None else round(seconds * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What one `script.open_service` asked for. `classes` are request classes by name, with their options."""

    factory: Factory
    capacity: int
    fallback: bool = False
    classes: Mapping[str, ClassOptions] = field(default_factory=dict[str, ClassOptions])
    ordering: str | None = None
    run_budget: float | None = None
    abandoned_limit: int | None = None
    lazy: bool = False
    health_check: Callable[[], bool] | None = None

    @property
    def declared_capacity(self) -> int:
        """How many accepted tasks may wait, -1 where what a full queue does is not declared."""
        return self.capacity if self.factory.capacity >= 0 else -1

    def config(self, observer: Observer) -> ServiceConfig:
        """The configuration for the factory; what was not asked for keeps the service's own default."""
        asked: dict[str, Any] = {}
        if self.classes:
            asked["classes"] = tuple(_class(name, options) for name, options in self.classes.items())
        if self.ordering is not None:
            asked["ordering"] = Ordering(self.ordering)
        if self.run_budget is not None:
            asked["run_budget"] = self.run_budget
        if self.abandoned_limit is not None:
            asked["abandoned_limit"] = self.abandoned_limit
        if self.lazy:
            asked["opening"] = Opening.LAZY
        if self.factory.capabilities.intersection(("freshness", "model_switch")):
            asked["model_version"] = FIRST_VERSION
        if (check := self.health_check) is not None:
            asked["health_check"] = _of_any_session(check)
        spec = self.factory.spec
        return ServiceConfig(
            capacity=self.capacity,
            slots=spec.slots,
            delegate=DelegatePolicy.PREFER if self.fallback else DelegatePolicy.REQUIRE,
            observer=observer,
            options=spec.options,
            **asked,
        )

    def attrs(self, call: int) -> dict[str, Attr]:
        """What `service-open-begin` says."""
        capabilities = self.factory.capabilities
        attrs: dict[str, Attr] = {"call": call, "capacity": self.declared_capacity, "workers": self.factory.workers}
        attrs["running_cancel"] = "running_cancel" in capabilities
        attrs["tells_dequeue"] = "tells-dequeue" in capabilities
        overflow = self.overflow("default")
        if overflow not in {"", "reject"}:
            attrs["overflow"] = overflow
        if capabilities.intersection(_ORDERS):
            attrs["order"] = self.ordering or "fifo"
        if self.run_budget is not None:
            attrs["run_budget_ms"] = in_ms(self.run_budget)
        if self.abandoned_limit is not None:
            attrs["abandoned_limit"] = self.abandoned_limit
        return attrs

    def class_attrs(self, name: str) -> dict[str, Attr]:
        """What `request-class` says."""
        options = self.classes[name]
        capacity = options.get("capacity")
        return {
            "class": name,
            "capacity": capacity if isinstance(capacity, int) else -1,
            "overflow": self.overflow(name),
            "block_ms": in_ms(self.seconds(name, "block_seconds")),
            "weight_percent": round(100 * float(options.get("weight") or 1.0)),
            "floor_percent": round(100 * float(options.get("floor") or 0.0)),
        }

    def overflow(self, name: str) -> str:
        """What a full queue does with a request of this class, empty where nobody says."""
        asked = self.classes.get(name, {}).get("overflow")
        if asked is not None:
            return str(asked)
        kinds = sorted(each for each in self.factory.capabilities if each.startswith(_OVERFLOW))
        if f"{_OVERFLOW}reject" in kinds:
            return "reject"
        return kinds[0].removeprefix(_OVERFLOW) if len(kinds) == 1 else ""

    def seconds(self, name: str, option: str) -> float | None:
        """An option of a class that is a time, None where it has none."""
        value = self.classes.get(name, {}).get(option)
        return None if value is None else float(value)

    def priority(self, name: str) -> int | None:
        """A class's priority, None where it is left to the service."""
        value = self.classes.get(name, {}).get("priority")
        return None if value is None else int(value)


def _of_any_session(check: Callable[[], bool]) -> Callable[[Session], bool]:
    def answer(session: Session) -> bool:
        del session
        return check()

    return answer


def _class(name: str, options: ClassOptions) -> RequestClass:
    made: dict[str, Any] = dict(options)
    if "overflow" in made:
        made["overflow"] = OverflowPolicy(made["overflow"])
    return RequestClass(name=name, **made)
