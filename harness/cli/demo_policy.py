"""The demo's gate policy: what was asked for, written before any receipt is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from harness.invariants.catalogue import CATALOGUE
from harness.suite.plan import Plan, ServiceSpec, TargetSpec
from scenarios.catalogue import SCENARIOS

if TYPE_CHECKING:
    from adapters.base import ModelFile

__all__ = ["Asked", "demo_policy"]

_VALID = timedelta(days=30)
_RUNTIMES = {"onnxruntime": "onnxruntime", "litert": "ai-edge-litert", "tflite": "tflite-runtime"}
"""The distribution that each adapter binds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One target of the demo: the model that ships, the runtime version installed here, and the delegate asked for."""

    target: TargetSpec
    model: ModelFile
    version: str
    delegate: str


def demo_policy(
    plan: Plan, asked: Sequence[Asked], device_class: str, public_key: str, now: datetime, *, dirty: bool
) -> str:
    """Write the policy: every target with every service, on the whole suite."""
    lines = [
        'schema = "gate-policy/1"',
        'id = "demo"',
        f'expires = "{now + _VALID:%Y-%m-%dT%H:%M:%SZ}"',
        "",
        "[trust.demo]",
        f"keys = [{_text(public_key)}]",
        f"device_classes = [{_text(device_class)}]",
        "",
        "[freshness]",
        'max_age = "P1D"',
        "",
        "[harness]",
        'min_version = "0.0"',
        *(["# the demo may run from a checkout that is being edited; a release must not"] if dirty else []),
        f"allow_dirty = {str(dirty).lower()}",
    ]
    for item in asked:
        for service in plan.services:
            lines += ["", *_require(plan, item, service, device_class)]
    return "\n".join(lines) + "\n"


def _require(plan: Plan, asked: Asked, service: ServiceSpec, device_class: str) -> list[str]:
    runtime = _RUNTIMES[asked.target.adapter]
    return [
        "[[require]]",
        f"id = {_text(f'{asked.target.name}-{service.name}')}",
        f"model_sha256 = {_text(asked.model.digest)}",
        f"runtime = {{ name = {_text(runtime)}, version = {_text(asked.version)} }}",
        f'delegate = {{ name = {_text(asked.delegate)}, min_node_share = "1.0", fallback = "deny" }}',
        f"device_class = {_text(device_class)}",
        f"service = {{ kind = {_text(service.name)}, capacity = {service.capacity}, slots = {service.slots} }}",
        f"suite = {{ id = {_text(plan.suite.id)} }}",
        f"scenarios = [{', '.join(map(_text, _for_every_model(plan)))}]",
        'capabilities = ["drain", "fallback", "overflow:reject", "running_cancel"]',
        f"invariants = [{', '.join(map(_text, CATALOGUE))}]",
        f"min_executions_per_scenario = {plan.budget.executions}",
    ]


def _for_every_model(plan: Plan) -> list[str]:
    """The scenarios that a policy can name: those in which shapes change apply to some of the demo's models alone."""
    known = {name: SCENARIOS[name].requires for name in plan.scenarios if name in SCENARIOS}
    return [name for name in plan.scenarios if "dynamic-shapes" not in known.get(name, ())]


def _text(value: str) -> str:
    """A TOML basic string: for the plain text written here the same as a JSON string."""
    return msgspec.json.encode(value).decode()
