"""`racegate worker`: serve a supervisor, or check that another command does so."""

from __future__ import annotations

import argparse
import os

from harness.cli.output import UsageError, say

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("--conformance", action="store_true", help="check that COMMAND speaks the worker protocol")
    parser.add_argument("--hang-after", type=float, default=30.0, metavar="S", help="seconds of silence (default 30)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="-- COMMAND..., with --conformance")


def execute(args: argparse.Namespace) -> int:
    """Serve until the supervisor is done, or print one line for each conformance check."""
    command = [part for part in args.command if part != "--"]
    if args.conformance:
        return _check(command, args.hang_after)
    if command:
        message = "a worker takes no arguments; `racegate worker --conformance -- COMMAND` checks another one"
        raise UsageError(message)
    from harness.worker.__main__ import main  # noqa: PLC0415 - a conformance check starts no worker here

    status = main()
    os._exit(status)  # see harness.worker.__main__: native libraries abort in their destructors


def _check(command: list[str], hang_after_s: float) -> int:
    from harness.supervisor.conformance import check  # noqa: PLC0415 - a worker needs no supervisor
    from harness.supervisor.process import WorkerStartError  # noqa: PLC0415 - a worker needs no supervisor

    if not command:
        message = "--conformance needs a command: racegate worker --conformance -- COMMAND..."
        raise UsageError(message)
    try:
        results = check(command, hang_after_s)
    except WorkerStartError as error:
        raise UsageError(str(error)) from error
    for result in results:
        say(
            f"{'ok  ' if not result.problem else 'FAIL'}  {result.name}{': ' if result.problem else ''}{result.problem}"
        )
    return 1 if any(result.problem for result in results) else 0
