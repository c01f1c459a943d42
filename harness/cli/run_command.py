"""`racegate run`: run an acceptance suite and write receipts."""

from __future__ import annotations

import argparse
import errno
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.cli.main import UNDECIDED
from harness.cli.output import IncompleteError, UsageError, complain, say
from harness.cli.past_runs import PastRuns
from harness.cli.planning import Prepared, Wishes, prepare
from harness.cli.resuming import counted, earlier_run, remember, tell_of_unfinished
from harness.cli.stopping import stopping
from harness.cli.watch import watching
from harness.supervisor.cells import PlanError
from harness.supervisor.journal import FORGETFUL
from harness.supervisor.run import Finished, run_plan
from harness.supervisor.switch import StopSwitch
from harness.verdict import RunRecord, Verdict
from reports.failure_text import failure_text
from reports.files import remove_half_written, write_run
from reports.keys import KeyFileError, load_private_key
from reports.table import table

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from harness.cli.unfinished import Unfinished

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
    parser.add_argument("--resume", action="store_true", help="finish an interrupted run: only its missing cells run")
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
        prepared, unfinished = _begin(args, key, switch)
        over = False
        try:
            written = run_and_write(
                prepared, args.out, key, switch, args.jobs, verbose=args.verbose, unfinished=unfinished
            )
            over = not switch.pulled
        finally:
            unfinished.close(over=over)
        if switch.pulled and unfinished.cells:
            complain(
                f"interrupted, with {counted(unfinished.cells)} done: the same command with --resume runs the rest"
            )
    _say_where(written, signed=key is not None)
    if prepared.proves_nothing:
        complain(prepared.notes[-1])
        return UNDECIDED
    return exit_code((item.record for item in written), interrupted=switch.pulled, left_out=bool(prepared.left_out))


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


def _begin(args: argparse.Namespace, key: Ed25519PrivateKey | None, switch: StopSwitch) -> tuple[Prepared, Unfinished]:
    """The plan, and the folder that keeps what is finished of it, which the caller closes."""
    earlier = earlier_run(args.out, args.seed) if args.resume else None
    if not args.resume:
        tell_of_unfinished(args.out)
    try:
        prepared = prepare(_wishes(args, None if earlier is None else earlier.seed), switch)
        with _writing(args.out):
            unfinished = remember(earlier, prepared, args.out, key)
    except BaseException:
        if earlier is not None:
            earlier.close(over=False)
        raise
    if earlier is not None:
        say(f"note: goes on with an interrupted run: {counted(earlier.cells)} done")
    return prepared, unfinished


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What a file system says that has no room, where nothing is wrong with what was asked for."""


@contextmanager
def _writing(out: Path) -> Generator[None]:
    """Turn what the system says when nothing can be written into one line."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of our own output has gone
    except OSError as error:
        message = f"cannot write to {out.name!r}: {error.strerror}"
        if error.errno not in _FULL:
            raise UsageError(message) from error
        message += "; the run is incomplete, and no receipt is half written"
        raise IncompleteError(message) from error


def _wishes(args: argparse.Namespace, resumed_seed: int | None) -> Wishes:
    return Wishes(
        suite=args.suite,
        targets=tuple(args.target),
        model=args.model,
        scenarios=tuple(args.scenario),
        services=tuple(args.service),
        capacity=args.capacity,
        slots=args.slots,
        seed=args.seed,
        resumed_seed=resumed_seed,
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
    """One pair's record and the folder with its receipt. `key`: see `pair_key`."""

    key: str
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
    unfinished: Unfinished | None = None,
) -> tuple[Written, ...]:
    """Run the plan; write and print each record as it comes.

    What `unfinished` has already is not run again, and it keeps what is finished. Raises UsageError for what cannot be
    run as asked, IncompleteError where the disk is full.
    """
    plan = prepared.plan
    for note in prepared.notes:
        say(f"note: {note}")
    for line in prepared.left_out:
        complain(line)
    say(f"suite {plan.suite.id} {plan.suite.version}, seed {plan.seed}, {plan.budget.executions} executions a cell")
    if removed := remove_half_written(out):
        say(f"note: removed {removed} half-written folder{'' if removed == 1 else 's'} of a run that was killed")
    writer = _Writer(out, key, switch, unfinished)
    try:
        with _writing(out), watching(plan, verbose=verbose) as watcher:
            written = list(writer.earlier())
            done = [item.key for item in written]
            journal = FORGETFUL if unfinished is None else unfinished
            # Written one by one as they come: what is finished survives whatever happens to the rest.
            results = run_plan(plan, prepared.materials, watcher, switch, jobs, workers, journal, done)
            written.extend(writer.write(finished) for finished in results)
    except PlanError as error:
        raise UsageError(str(error)) from error
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


class _Writer:
    """Writes the receipts of one run. Used from one thread; raises OSError where nothing can be written."""

    def __init__(
        self, out: Path, key: Ed25519PrivateKey | None, switch: StopSwitch, unfinished: Unfinished | None
    ) -> None:
        self._out = out
        self._key = key
        self._switch = switch
        self._unfinished = unfinished
        self._past = PastRuns(out)

    def earlier(self) -> Iterator[Written]:
        """What the interrupted run wrote; where it died before a receipt was in its place, it is written now."""
        for finished in () if self._unfinished is None else self._unfinished.written():
            folder = self._out / finished.record.run_id
            yield (
                self._put(finished, finished.record)
                if not folder.exists()
                else Written(finished.key, finished.record, folder)
            )

    def write(self, finished: Finished) -> Written:
        """Write one run. What Ctrl-C left unwritten is marked, whole or not: an interrupted run passes nothing."""
        record = self._past.chained(finished.record)
        record = msgspec.structs.replace(record, interrupted=record.interrupted or self._switch.pulled)
        if self._unfinished is not None and not record.interrupted:
            self._unfinished.keep_written(Finished(key=finished.key, record=record, files=finished.files))
        return self._put(finished, record)

    def _put(self, finished: Finished, record: RunRecord) -> Written:
        return Written(finished.key, record, write_run(self._out, record, self._key, cell_files(finished)))


def cell_files(finished: Finished) -> Mapping[str, bytes]:
    """The cell files by name. A cell that failed twice, as scenario and as control, is one file."""
    return {file.name: msgspec.json.encode(file, order="deterministic") for file in finished.files}


def exit_code(records: Iterable[RunRecord], *, interrupted: bool, left_out: bool = False) -> int:
    """0 when everything passed, 1 for a violation, 3 for whatever was not decided, a target that was left out too."""
    verdicts = {record.verdict for record in records}
    if interrupted or not verdicts:
        return UNDECIDED
    if Verdict.FAIL in verdicts:
        return 1
    return 0 if verdicts == {Verdict.PASS} and not left_out else UNDECIDED


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
