"""What a script sets a service up with: the configuration that the factory gets, and what the history says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from adapters.base import Session, Shapes
from harness.execution.services import Factory
from harness.history import Attr
from harness.scenario import ClassOptions
from harness.service.capacity_estimate import CapacityEstimate
from harness.service.config import DelegatePolicy, Opening, ServiceConfig
from harness.service.gated_service import GatedConfig
from harness.service.journal import Journal
from harness.service.memory_gate import GateConfig
from harness.service.memory_source import MemorySource
from harness.service.observer import Observer
from harness.service.requests import Ordering, OverflowPolicy, RequestClass
from harness.service.residency import ResidentConfig, Residents
from harness.service.shapes import ShapePlan

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
    shapes: Sequence[Shapes] = ()
    journal: Journal | None = None
    memory: MemorySource | None = None
    most_live: int = 2
    residents: Residents | None = None
    events: int = 0

    @property
    def declared_capacity(self) -> int:
        """How many accepted tasks may wait, -1 where what a full queue does is not declared."""
        return self.capacity if self.factory.capacity >= 0 else -1

    def config(self, observer: Observer, checked: Callable[[Session, bool], None]) -> ServiceConfig:
        """The configuration for the factory; what was not asked for keeps the service's own default.

        `checked` hears each answer of the health check.
        """
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
        asked |= self._extras(checked)
        spec = self.factory.spec
        make = self._kind_of_config()
        return make(
            capacity=self.capacity,
            slots=spec.slots,
            delegate=DelegatePolicy.PREFER if self.fallback else DelegatePolicy.REQUIRE,
            observer=observer,
            options=spec.options,
            **asked,
        )

    def _kind_of_config(self) -> Callable[..., ServiceConfig]:
        if self.memory is not None:
            return partial(GatedConfig, memory=self.memory, gate=self._gate())
        if self.residents is not None:
            return partial(ResidentConfig, residents=self.residents, model_key="the model")
        return ServiceConfig

    def _gate(self) -> GateConfig:
        # Each look is a new one: virtual time moves by a microsecond with every reading of a clock.
        return GateConfig(estimate=CapacityEstimate(weights=0, base=1), most_live=self.most_live, period=1e-9)

    def _extras(self, checked: Callable[[Session, bool], None]) -> dict[str, Any]:
        extras: dict[str, Any] = {"events": self.events} if self.events else {}
        if self.shapes:
            extras["shapes"] = _between(self.shapes)
        if self.journal is not None:
            extras["journal"] = self.journal
        if (check := self.health_check) is not None:
            extras["health_check"] = _of_any_session(check, checked)
        return extras

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
        if "lifecycle" in capabilities:
            attrs["lifecycle"] = True
        if self.health_check is not None:
            attrs["health_check"] = True
        if self.run_budget is not None:
            attrs["run_budget_ms"] = in_ms(self.run_budget)
        if self.abandoned_limit is not None:
            attrs["abandoned_limit"] = self.abandoned_limit
        return attrs | ({"resident": True} if self.residents is not None else {})

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


def _between(shapes: Sequence[Shapes]) -> ShapePlan:
    """Take what lies between the smallest and the largest of these; all but the last of them are planned ahead."""
    least = {name: tuple(map(min, zip(*(each[name] for each in shapes), strict=True))) for name in shapes[0]}
    most = {name: tuple(map(max, zip(*(each[name] for each in shapes), strict=True))) for name in shapes[0]}
    return ShapePlan(least=least, most=most, buckets=tuple(dict(each) for each in shapes[:-1]))


def _of_any_session(check: Callable[[], bool], checked: Callable[[Session, bool], None]) -> Callable[[Session], bool]:
    def answer(session: Session) -> bool:
        sound = check()
        checked(session, sound)
        return sound

    return answer


def _class(name: str, options: ClassOptions) -> RequestClass:
    made: dict[str, Any] = dict(options)
    if "overflow" in made:
        made["overflow"] = OverflowPolicy(made["overflow"])
    return RequestClass(name=name, **made)
