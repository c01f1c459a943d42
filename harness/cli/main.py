"""`racegate COMMAND ...`: find the command, run it, turn what happens into an exit code.

0 pass or allow, 1 a violation or deny, 2 usage, 3 undecided, 70 a defect in racegate. A command's module is imported
only when it is asked for, so that `racegate gate` needs neither numpy nor a runtime.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from harness.cli.output import IncompleteError, UsageError, complain, say

__all__ = ["COMMANDS", "DEFECT", "UNDECIDED", "USAGE", "main"]

USAGE, UNDECIDED, DEFECT = 2, 3, 70
COMMANDS: Mapping[str, str] = {
    "run": "run an acceptance suite and write receipts",
    "explore": "search one service for schedules that break it",
    "replay": "repeat one failing execution from its token",
    "gate": "decide over receipts: allow or deny, and why",
    "list": "list targets, scenarios, services, invariants or faults",
    "doctor": "say what is installed and what is missing",
    "demo": "run the release suite on what is installed, then the gate",
    "keygen": "make a key pair for signing receipts",
    "models": "download published models into the cache",
    "worker": "serve a supervisor on standard input and output",
}


@dataclass(frozen=True, slots=True)
class _Command:
    """What a command's module offers."""

    add_arguments: Callable[[argparse.ArgumentParser], None]
    execute: Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. Never lets an exception through."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except UsageError as error:
        complain(str(error))
        return USAGE
    except IncompleteError as error:
        complain(str(error))
        return UNDECIDED
    except KeyboardInterrupt:
        complain("interrupted")
        return UNDECIDED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of our output has gone
        return UNDECIDED
    except Exception as error:  # noqa: BLE001 - an uncaught exception must not look like a violation
        return _defect(error)


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in {"-h", "--help"}:
        say(_help())
        return 0 if arguments else USAGE
    if arguments[0] == "--version":
        from harness.supervisor.identity import version  # noqa: PLC0415 - only where it is asked for

        say(f"racegate {version()}")
        return 0
    name = arguments[0]
    if name not in COMMANDS:
        message = f"no command {name!r}; there are {', '.join(COMMANDS)}"
        raise UsageError(message)
    command = _load(name)
    parser = argparse.ArgumentParser(prog=f"racegate {name}", description=COMMANDS[name], allow_abbrev=False)
    command.add_arguments(parser)
    try:
        parsed = parser.parse_args(arguments[1:])
    except SystemExit as done:  # argparse has printed its line
        return int(done.code or 0)
    return command.execute(parsed)


def _load(name: str) -> _Command:
    module = importlib.import_module(f"harness.cli.{name}_command")
    return _Command(
        cast("Callable[[argparse.ArgumentParser], None]", module.add_arguments),
        cast("Callable[[argparse.Namespace], int]", module.execute),
    )


def _help() -> str:
    lines = [
        "racegate: concurrency verification and fault injection for on-device AI inference",
        "",
        "usage: racegate COMMAND [OPTIONS]     racegate COMMAND --help     racegate --version",
        "",
        *(f"  {name:8} {text}" for name, text in COMMANDS.items()),
        "",
        "exit codes: 0 pass or allow, 1 violation or deny, 2 usage, 3 undecided, 70 a defect in racegate",
    ]
    return "\n".join(lines)


def _defect(error: Exception) -> int:
    if os.environ.get("RACEGATE_DEBUG") == "1":
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "nowhere"  # noqa: PTH119 - text only
    complain(
        f"this is a defect in racegate: {type(error).__name__} at {where}; RACEGATE_DEBUG=1 shows where it comes from"
    )
    return DEFECT


if __name__ == "__main__":
    sys.exit(main())
