"""`racegate explore`: search one service for schedules that break it, as widely as asked."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from harness.cli.output import UsageError, say
from harness.cli.planning import Wishes, prepare
from harness.cli.run_command import Written, exit_code, run_and_write
from harness.cli.stopping import stopping
from harness.suite.file import SuiteError, check_budget
from harness.suite.plan import Budget
from harness.supervisor.switch import StopSwitch
from harness.verdict import CellResult

__all__ = ["add_arguments", "execute"]

NO_LIMIT = 1_000_000
"""Executions where only seconds, or the end of the space, are to stop the search."""


MOST_JOBS = 256


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("service", metavar="FILE_OR_SERVICE", help="path/file.py:factory, or a service by name")
    parser.add_argument("--scenario", action="append", default=[], metavar="GLOB", help="or path/file.py:name")
    parser.add_argument("--target", action="append", default=[], metavar="NAME", help="default: numpy")
    parser.add_argument("--model", default="", metavar="FILE", help="a file, builtin:NAME or pkg:PACKAGE==VERSION/path")
    parser.add_argument(
        "--strategy", default="portfolio", metavar="S", help="exhaustive, pct, portfolio, pos, random, scripted"
    )
    parser.add_argument("--bound", type=int, default=-1, metavar="N", help="most preemptions (exhaustive), depth (pct)")
    parser.add_argument("--granularity", default="sync", metavar="G", help="sync, or statement: shared state as well")
    parser.add_argument("--carrier", default="threads", metavar="C", help="threads, or greenlets where installed")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--executions", type=int, metavar="N", help="executions a scenario (default 1000)")
    limit.add_argument("--seconds", type=float, metavar="S", help="real time a scenario")
    parser.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="worker processes: scenarios side by side, then split"
    )
    parser.add_argument("--capacity", type=int, metavar="N", help="the service's capacity")
    parser.add_argument("--slots", type=int, metavar="N", help="the service's slots")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="FAULT", help="NAME[@POINT][:nth=N]..., see docs/faults.md"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="default: a fresh one")
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="where receipts go (default out)")


def execute(args: argparse.Namespace) -> int:
    """Search, write, print."""
    if args.jobs is not None and not 0 < args.jobs <= MOST_JOBS:
        message = f"--jobs must be between 1 and {MOST_JOBS}"
        raise UsageError(message)
    wishes = Wishes(
        targets=tuple(args.target) or ("numpy",),
        model=args.model,
        scenarios=tuple(args.scenario),
        services=(args.service,),
        capacity=args.capacity,
        slots=args.slots,
        seed=args.seed,
        faults=tuple(args.fault),
        exploration=_budget(args),
    )
    switch = StopSwitch()
    with stopping(switch):
        prepared = prepare(wishes, switch)
        written = run_and_write(prepared, args.out, None, switch, jobs=args.jobs or 2, workers=args.jobs or 0)
    for item in written:
        _say_extent(item)
    return exit_code((item.record for item in written), interrupted=switch.pulled, left_out=bool(prepared.left_out))


def _budget(args: argparse.Namespace) -> Budget:
    executions = args.executions or (NO_LIMIT if args.seconds else 1_000)
    budget = Budget(executions, args.seconds or 0.0, args.strategy, args.bound, args.granularity, args.carrier)
    try:
        check_budget(budget)
    except SuiteError as error:
        option = str(error).removeprefix("budget.")
        message = f"--{option}"
        raise UsageError(message) from error
    if args.carrier == "greenlets" and find_spec("greenlet") is None:
        message = "--carrier greenlets: install it with: pip install greenlet"
        raise UsageError(message)
    return budget


def _say_extent(item: Written) -> None:
    """Say how far each scenario was searched, and what that means."""
    say()
    for cell in item.record.cells:
        if cell.executions:
            say(f"{cell.scenario:26} {_extent(cell)}")


def _extent(cell: CellResult) -> str:
    found = cell.exploration
    points = cell.decision_points // cell.executions
    ran = f"{cell.executions} executions of about {points} decision points in {cell.seconds:.1f} s"
    if found is None or found.strategy != "exhaustive":
        return ran
    most = f"with at most {found.bound} preemption{'' if found.bound == 1 else 's'}"
    if found.exhausted:
        return f"{ran}; every schedule {most}"
    fewer = f"; every one with at most {found.whole_to}" if found.whole_to >= 0 else ""
    return f"{ran}; NOT every schedule {most}{fewer}"
