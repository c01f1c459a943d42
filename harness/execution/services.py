"""Find the service under test and say what it is."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from adapters.base import Opener
from harness.engine.instrument.loader import active
from harness.execution.modules import users_modules
from harness.loading import load_file
from harness.service.config import ServiceConfig
from harness.suite.plan import ServiceSpec
from harness.verdict import ServiceRecord

__all__ = ["Factory", "UnknownServiceError", "describe", "load_factory", "service_names"]

_BUILT_IN = {
    "pipeline": "harness.service.pipelined:PipelinedQueue",
    "pool": "harness.service.built_in:pool",
    "queue": "harness.service.built_in:queue",
    "unsafe-shared": "harness.service.unsafe_shared:UnsafeShared",
}
_GROUP = "racegate.services"


class UnknownServiceError(ValueError):
    """No service of that name, or its file does not load. The text says what there is."""


class Factory:
    """A user's factory, `factory(open_session, config) -> Service`, with what it declares.

    `capabilities` and `workers` are attributes of the factory or of its module; what is not declared is not there.
    `known_bad` marks a service that is here to be caught.
    """

    def __init__(self, spec: ServiceSpec, make: Callable[[Opener, ServiceConfig], Any], module: ModuleType) -> None:
        self.make = make
        self.spec = spec
        self.module = module
        self.capabilities: frozenset[str] = frozenset(_declared(make, module, "capabilities", ()))
        self.workers = int(_declared(make, module, "workers", spec.slots))
        self.known_bad = bool(_declared(make, module, "known_bad", default=False))

    @property
    def capacity(self) -> int:
        """How many accepted tasks may wait: as configured where what a full queue does is declared, else -1."""
        bounded = any(capability.startswith("overflow:") for capability in self.capabilities)
        return self.spec.capacity if bounded else -1

    @property
    def instrumented(self) -> bool:
        """Whether its accesses to shared state are reported."""
        instrumenter = active()
        return instrumenter is not None and self.module.__name__ in instrumenter.loaded

    @property
    def seen_whole(self) -> bool:
        """Whether those of the user's own modules that it works with are, too: a search may leave equal states out."""
        instrumenter = active()
        return instrumenter is not None and instrumenter.loaded.issuperset(
            {self.module.__name__, *users_modules(self.module)}
        )

    @property
    def source_digest(self) -> str:
        """The sha256, in hex, of the files that define it: a user's file, or every file of its package.

        With the user's own modules that it takes names from: a factory often stands beside the queue that it makes.
        """
        file = Path(str(self.module.__file__))
        files = sorted(file.parent.glob("*.py")) if self.module.__package__ else [file]
        files += [each for _, each in sorted(users_modules(self.module).items()) if each not in files]
        digest = hashlib.sha256()
        for each in files:
            digest.update(f"{each.name}\n".encode() + each.read_bytes())
        return digest.hexdigest()


def _declared(make: Any, module: ModuleType, name: str, default: Any) -> Any:
    return getattr(make, name, getattr(module, name, default))


def service_names() -> tuple[str, ...]:
    """The built-in services and those that installed packages bring."""
    return tuple(sorted(_BUILT_IN.keys() | {point.name for point in importlib.metadata.entry_points(group=_GROUP)}))


def load_factory(spec: ServiceSpec) -> Factory:
    """Load by name, `package.module:Name` or `path/file.py:Name`. Raises UnknownServiceError."""
    reference = _BUILT_IN.get(spec.name) or _entry_point(spec.name) or spec.name
    where, colon, name = reference.rpartition(":")
    if not colon:
        message = f"no service {spec.name!r}: there are {', '.join(service_names())}, or give path/file.py:factory"
        raise UnknownServiceError(message)
    module = _load_file(where) if where.endswith(".py") else _import(where)
    make = getattr(module, name, None)
    if not callable(make):
        message = f"service {spec.name!r}: {where} has no {name!r} that can be called"
        raise UnknownServiceError(message)
    return Factory(spec, make, module)


def _entry_point(name: str) -> str:
    for point in importlib.metadata.entry_points(group=_GROUP):
        if point.name == name:
            return point.value
    return ""


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        message = f"service module {name!r} does not import: {type(error).__name__}: {error}"
        raise UnknownServiceError(message) from error


def _load_file(path: str) -> ModuleType:
    try:
        return load_file(path, _run_instrumented if active() is not None else None)
    except FileNotFoundError as error:
        message = f"no service file {path!r}"
        raise UnknownServiceError(message) from error
    except Exception as error:
        message = f"service file {path!r} does not import: {type(error).__name__}: {error}"
        raise UnknownServiceError(message) from error


def _run_instrumented(module: ModuleType, file: Path) -> None:
    instrumenter = active()
    assert instrumenter is not None, "asked for only where there is one"
    instrumenter.prepare(module)
    instrumenter.watch(file.parent)
    exec(instrumenter.compile_file(file.read_bytes(), str(file)), module.__dict__)  # noqa: S102 - the user's own code


def describe(spec: ServiceSpec) -> ServiceRecord:
    """Say what the service is, as effective."""
    factory = load_factory(spec)
    capabilities = factory.capabilities
    overflow = sorted(capability.partition(":")[2] for capability in capabilities if capability.startswith("overflow:"))
    return ServiceRecord(
        name=_public_name(spec.name),
        source_digest=factory.source_digest,
        kind=str(_declared(factory.make, factory.module, "kind", "queue" if factory.workers == 1 else "pool")),
        capacity=factory.capacity,
        slots=factory.workers,
        overflow=",".join(overflow) or "undeclared",
        close_behaviour="drain or abort" if "drain" in capabilities else "undeclared",
        delegate_behaviour="declared fallback" if "fallback" in capabilities else "require",
        capabilities=tuple(sorted(capabilities)),
        configuration={"capacity": spec.capacity, "slots": spec.slots, **spec.options},
    )


def _public_name(name: str) -> str:
    """A user's file by its own name: the folder it lies in is nobody's business."""
    where, colon, attribute = name.rpartition(":")
    return f"{Path(where).name}:{attribute}" if colon and where.endswith(".py") else name
