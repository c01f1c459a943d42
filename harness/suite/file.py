"""Suite files: TOML with a closed schema. Every mistake is one line that names the key."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from harness.suite.plan import FURTHER_SHAPES, Budget, FaultSpec, InputDomain, ServiceSpec, TargetSpec
from harness.verdict import Verdict

__all__ = [
    "RELEASE",
    "ControlEntry",
    "SuiteError",
    "SuiteFile",
    "check_budget",
    "load_release",
    "load_suite",
    "parse_suite",
]

RELEASE = Path(__file__).parents[2] / "scenarios" / "suites" / "release.toml"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_STRATEGIES = ("exhaustive", "pct", "portfolio", "pos", "random", "scripted")
_GRANULARITIES = ("sync", "statement")
_CARRIERS = ("threads", "greenlets")
_MAX_EXECUTIONS = 1_000_000
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.+?)`(?: - at `\$\.?(.*)`)?$")
_MISSING_FIELD = re.compile(r"Object missing required field `(.+?)`(?: - at `\$\.?(.*)`)?$")
_AT = re.compile(r"^(.*) - at `\$\.?(.*)`$")


class SuiteError(ValueError):
    """The suite cannot be used as it is. The text is one line for its author."""


class ControlEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A control: what the harness must be able to see. `adapters` limits it to some; empty means all."""

    scenario: str
    service: str | ServiceSpec
    model: str
    expect: Verdict
    invariant: str = ""
    adapters: tuple[str, ...] = ()
    executions: int = 0
    """How many executions it gets; 0 takes the suite's budget."""


Schema: TypeAlias = Literal["suite/1"]


class SuiteFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A suite as its author wrote it. Without targets it runs on every runtime that is installed."""

    schema: Schema
    id: str
    version: str
    scenarios: tuple[str, ...] = ("*",)
    hang_after: float = 30.0
    seed: int | None = None
    budget: Budget = Budget()
    targets: tuple[TargetSpec, ...] = msgspec.field(name="target", default=())
    services: tuple[ServiceSpec, ...] = msgspec.field(name="service", default=())
    controls: tuple[ControlEntry, ...] = msgspec.field(name="control", default=())
    faults: tuple[FaultSpec, ...] = msgspec.field(name="fault", default=())


def load_release() -> SuiteFile:
    """The built-in release suite."""
    return load_suite(RELEASE)


def load_suite(path: Path) -> SuiteFile:
    """Read a suite file. Raises SuiteError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"{path.name}: cannot be read: {error.strerror}"
        raise SuiteError(message) from error
    except UnicodeDecodeError as error:
        message = f"{path.name}: is not UTF-8 text"
        raise SuiteError(message) from error
    return parse_suite(text, path.name)


def parse_suite(text: str, name: str) -> SuiteFile:
    """Parse and check a suite; `name` stands in front of every message. Raises SuiteError."""
    try:
        suite = msgspec.convert(tomllib.loads(text), SuiteFile)
        _check(suite)
    except tomllib.TOMLDecodeError as error:
        message = f"{name}: is not TOML: {error}"
        raise SuiteError(message) from error
    except msgspec.ValidationError as error:
        message = f"{name}: {_readable(str(error))}"
        raise SuiteError(message) from error
    except SuiteError as error:
        message = f"{name}: {error}"
        raise SuiteError(message) from None
    return suite


def _readable(message: str) -> str:
    """Put the key first, as its author looks for it."""
    if found := _UNKNOWN_FIELD.match(message):
        return f"{_key(found[2], found[1])}: no such key"
    if found := _MISSING_FIELD.match(message):
        return f"{_key(found[2], found[1])}: is missing"
    if found := _AT.match(message):
        return f"{found[2]}: {found[1][:1].lower()}{found[1][1:]}"
    return message


def _key(at: str | None, field: str) -> str:
    return f"{at}.{field}" if at else field


def _check(suite: SuiteFile) -> None:
    _require(_NAME.fullmatch(suite.id), "id: lower-case letters, digits, dots and hyphens, at most 64")
    _require(suite.version.strip(), "version: is empty")
    _require(suite.scenarios, "scenarios: is empty, so nothing would run")
    _require(0 < suite.hang_after < math.inf, "hang_after: must be a positive number of seconds")
    _require(suite.seed is None or 0 <= suite.seed < 2**63, "seed: must be between 0 and 2**63 - 1")
    check_budget(suite.budget)
    _unique("target", (target.name for target in suite.targets))
    _unique("service", (service.name for service in suite.services))
    for index, target in enumerate(suite.targets):
        _check_target(f"target[{index}]", target)
    for index, service in enumerate(suite.services):
        _check_service(f"service[{index}]", service)
    for index, control in enumerate(suite.controls):
        _check_control(f"control[{index}]", control)


def check_budget(budget: Budget) -> None:
    """Check a budget. Raises SuiteError."""
    _require(1 <= budget.executions <= _MAX_EXECUTIONS, f"budget.executions: must be 1 to {_MAX_EXECUTIONS}")
    _require(0 <= budget.seconds < math.inf, "budget.seconds: must be 0 (no limit) or a positive number")
    _require(budget.strategy in _STRATEGIES, f"budget.strategy: must be one of {', '.join(_STRATEGIES)}")
    _require(budget.granularity in _GRANULARITIES, f"budget.granularity: must be one of {', '.join(_GRANULARITIES)}")
    _require(budget.carrier in _CARRIERS, f"budget.carrier: must be one of {', '.join(_CARRIERS)}")
    _require(-1 <= budget.bound < 100, "budget.bound: must be 0 to 99, or -1 for the strategy's own")  # noqa: PLR2004


def _check_target(key: str, target: TargetSpec) -> None:
    _require(_NAME.fullmatch(target.name), f"{key}.name: lower-case letters, digits, dots and hyphens, at most 64")
    _require(target.adapter, f"{key}.adapter: is empty")
    _require(not (target.python and target.command), f"{key}.python: `command` replaces the whole command, give one")
    for name, domain in target.inputs.items():
        _check_domain(f"{key}.inputs.{name}", domain)


def _check_domain(key: str, domain: InputDomain) -> None:
    _require(math.isfinite(domain.low) and math.isfinite(domain.high), f"{key}: low and high must be finite")
    _require(domain.low < domain.high, f"{key}: low must be below high")
    _require(all(size > 0 for size in domain.shape or ()), f"{key}.shape: every dimension must be positive")
    _require(len(domain.shapes) in {0, FURTHER_SHAPES}, f"{key}.shapes: two further shapes, or none")
    _require(all(size > 0 for shape in domain.shapes for size in shape), f"{key}.shapes: every dimension, too")


def _check_service(key: str, service: ServiceSpec) -> None:
    _require(service.name, f"{key}.name: is empty")
    _require(service.capacity >= 1, f"{key}.capacity: must be at least 1")
    _require(service.slots >= 1, f"{key}.slots: must be at least 1")
    _require(service.slots_fit, f"{key}.slots: the queue has one slot; more than one is a pool")


def _check_control(key: str, control: ControlEntry) -> None:
    if isinstance(control.service, ServiceSpec):
        _check_service(f"{key}.service", control.service)
    _require(0 <= control.executions <= _MAX_EXECUTIONS, f"{key}.executions: must be 0 to {_MAX_EXECUTIONS}")
    _require(control.model.startswith("builtin:"), f"{key}.model: a control runs on a built-in model, `builtin:NAME`")
    wanted = {Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN}
    _require(control.expect in wanted, f"{key}.expect: must be PASS, FAIL or UNKNOWN")


def _unique(key: str, names: Iterable[str]) -> None:
    seen: Mapping[str, int] = {}
    for index, name in enumerate(names):
        _require(name not in seen, f"{key}[{index}].name: {name!r} is taken by {key}[{seen.get(name, 0)}]")
        seen = {**seen, name: index}


def _require(holds: object, message: str) -> None:
    if not holds:
        raise SuiteError(message)
