"""`racegate list`: what there is to choose from."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping

from harness.cli.output import say

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("what", choices=sorted(_LISTS))


def execute(args: argparse.Namespace) -> int:
    """Print a name and one line for each."""
    rows = list(_LISTS[args.what]())
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        say(f"{name:{width}}  {text}".rstrip())
    return 0


def _targets() -> Iterator[tuple[str, str]]:
    from harness.cli.targets import PRESETS, default_target  # noqa: PLC0415 - each list loads only what it names
    from harness.models.registry import adapter_names  # noqa: PLC0415 - as above

    targets = [default_target(name) for name in adapter_names()] + list(PRESETS.values())
    for target in targets:
        options = "".join(f", {name}={value}" for name, value in target.options.items())
        delegate = f", delegate {target.delegate}" if target.delegate else ""
        yield target.name, f"adapter {target.adapter}, model {target.model}{delegate}{options}"


def _scenarios() -> Iterator[tuple[str, str]]:
    from scenarios.catalogue import SCENARIOS  # noqa: PLC0415 - as above

    for name, scenario in sorted(SCENARIOS.items()):
        needs = f" (needs {', '.join(scenario.requires)})" if scenario.requires else ""
        yield name, f"{scenario.claim.removeprefix('Claim:').strip()}{needs}"


def _services() -> Iterator[tuple[str, str]]:
    from harness.cli.planning import default_service  # noqa: PLC0415 - as above
    from harness.execution.services import describe, service_names  # noqa: PLC0415 - as above

    for name in service_names():
        record = describe(default_service(name))
        yield name, f"{record.kind}; {', '.join(record.capabilities) or 'no capabilities'}"


def _invariants() -> Iterator[tuple[str, str]]:
    from harness.invariants.catalogue import CATALOGUE  # noqa: PLC0415 - as above

    for name, invariant in CATALOGUE.items():
        yield name, invariant.statement


def _faults() -> Iterator[tuple[str, str]]:
    from harness.faults.catalogue import FAULTS  # noqa: PLC0415 - as above

    yield from FAULTS.items()


_LISTS: Mapping[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "targets": _targets,
    "scenarios": _scenarios,
    "services": _services,
    "invariants": _invariants,
    "faults": _faults,
}
