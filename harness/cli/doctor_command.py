"""`racegate doctor`: what is installed, which delegates each runtime offers, and what is missing."""

from __future__ import annotations

import argparse
import importlib.util
import platform
from collections.abc import Iterator
from pathlib import Path

from harness.cli.main import UNDECIDED
from harness.cli.output import complain, say
from harness.cli.stopping import stopping
from harness.cli.targets import NUMPY, Found, discover
from harness.engine.compiling import StaleCoreError, core
from harness.faults.native.build import native_availability
from harness.models.errors import ModelNotFoundError
from harness.models.reference import PUBLISHED, resolve
from harness.models.registry import adapter_names
from harness.supervisor.identity import version
from harness.supervisor.switch import StopSwitch

__all__ = ["add_arguments", "execute", "shadowed"]

_PACKAGES = ("adapters", "harness", "reports", "scenarios")
_ROOT = Path(__file__).parents[2]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument(
        "--hang-after", type=float, default=30.0, metavar="S", help="seconds a runtime may take to load"
    )


def execute(args: argparse.Namespace) -> int:
    """Ask every adapter in a process of its own. Exit 3 where no runtime is there or a package is shadowed."""
    say(f"racegate {version()}, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    switch = StopSwitch()
    with stopping(switch):
        found = discover(adapter_names(), switch, args.hang_after)
    for item in found:
        _say_adapter(item)
    _say_models()
    _say_native_faults()
    problems = [*_say_engine(), *shadowed()]
    for problem in problems:
        complain(problem)
    runtimes = [item for item in found if item.adapter != NUMPY and not item.problem]
    if not runtimes:
        complain("no runtime is installed: nothing can be said about one yet")
    return 0 if runtimes and not problems else UNDECIDED


def _say_adapter(found: Found) -> None:
    if found.problem or found.probe is None:
        say(f"  missing    {found.adapter:12} {found.problem}")
        if found.install:
            say(f"             {'':12} {found.install}")
        return
    say(f"  installed  {found.adapter:12} {found.probe.version}, delegates: {', '.join(found.probe.delegates)}")


def _say_models() -> None:
    for suffix, reference in PUBLISHED.items():
        try:
            resolve(reference, (suffix,))
            say(f"  model      {reference}")
        except ModelNotFoundError as error:
            say(f"  no model   {error}")


def _say_native_faults() -> None:
    available, reason = native_availability()
    say(f"  native     {'faults':12} available: {'yes' if available else f'no, because {reason}'}")


def _say_engine() -> Iterator[str]:
    try:
        say(f"  engine     {'core':12} {core()}")
    except StaleCoreError as error:
        yield str(error)


def shadowed(root: Path = _ROOT) -> Iterator[str]:
    """Name each of our packages that Python would import from somewhere else."""
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        places = list(spec.submodule_search_locations or ()) if spec else []
        if not places or Path(places[0]).resolve() != (root / name).resolve():
            yield f"another installed package is called {name!r} and hides ours: use an environment without it"
