"""`racegate replay TOKEN`: repeat one failing execution."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.cli.main import UNDECIDED
from harness.cli.output import UsageError, complain, say
from harness.cli.stopping import stopping
from harness.execution.replay import ReplayReport
from harness.models.errors import ModelError
from harness.models.reference import next_version, resolve
from harness.schedule import Schedule, TokenError, parse_token
from harness.suite.plan import instrumented_packages
from harness.suite.select import is_file_reference
from harness.supervisor.blank import reason_of
from harness.supervisor.cell_file import CellFile
from harness.supervisor.death import Death
from harness.supervisor.neighbour import NeighbourProcess, is_watched
from harness.supervisor.process import Worker, WorkerStartError
from harness.supervisor.staff import Refusal, Staff, send_model
from harness.supervisor.switch import StopSwitch
from harness.worker.protocol import DescribeParams, Description, ErrorReport, ReplayParams
from reports.failure_text import failure_text

if TYPE_CHECKING:
    from adapters.base import ModelFile

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument("token", metavar="TOKEN", help="as a failure prints it")
    parser.add_argument("--cell", type=Path, metavar="FILE", help="the cell file, where it is not below --out")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where receipts are (default: out, then nearby folders)"
    )
    parser.add_argument("--times", type=int, default=1, metavar="N", help="how often (default 1)")
    parser.add_argument("--model", default="", metavar="FILE", help="the model, where it is not where the run found it")
    parser.add_argument("--service", default="", metavar="FILE", help="the service's file:name, likewise")
    parser.add_argument("--scenario", default="", metavar="FILE", help="the scenario's file:name, likewise")
    parser.add_argument(
        "--hang-after", type=float, default=30.0, metavar="S", help="seconds of silence allowed a replay"
    )


def execute(args: argparse.Namespace) -> int:
    """Replay in a worker. Exit 1 when the violation shows again, 0 when nothing is violated, 3 when replays differ."""
    try:
        schedule = parse_token(args.token)
    except TokenError as error:
        raise UsageError(str(error)) from error
    if args.times < 1:
        message = "--times must be at least 1"
        raise UsageError(message)
    found = _read(args.cell) if args.cell else _find(args.out, schedule, args.token)
    found = _at(found, args.service, args.scenario)
    if found.cell.digest[:12] != schedule.cell:
        message = f"the cell file is for cell {found.cell.digest[:12]}, the token for {schedule.cell}"
        raise UsageError(message)
    model = _model(found, args.model)
    switch = StopSwitch()
    with stopping(switch):
        answer = _replay(found, model, schedule, args, switch)
    if switch.pulled:
        complain("interrupted")
        return UNDECIDED
    return _tell(answer, args.times)


def _at(found: CellFile, service: str, scenario: str) -> CellFile:
    """The cell with its files where they are now."""
    cell = found.cell
    if service:
        cell = msgspec.structs.replace(cell, service=msgspec.structs.replace(cell.service, name=service))
    if scenario:
        cell = msgspec.structs.replace(cell, scenario=scenario)
    for option, reference in (("service", cell.service.name), ("scenario", cell.scenario)):
        path = reference.rpartition(":")[0]
        if is_file_reference(reference) and not Path(path).is_file():
            message = f"the {option}'s file {path!r} is not here: give --{option} FOLDER/{Path(path).name}:NAME"
            raise UsageError(message)
    return msgspec.structs.replace(found, cell=cell)


def _find(out: Path | None, schedule: Schedule, token: str) -> CellFile:
    candidates = [_read(path) for path in _candidates(out, schedule.cell)]
    if not candidates:
        where = f"below {out.name!r}" if out else "here"
        message = (
            f"the token is for cell {schedule.cell}, and no cell-{schedule.cell}.json is {where}: "
            "give --out DIR, or --cell FILE"
        )
        raise UsageError(message)
    # The same cell may have failed in several runs with other inputs: the one that printed this token knows best.
    return next((found for found in candidates if token in found.tokens), candidates[0])


def _candidates(out: Path | None, digits: str) -> list[Path]:
    """Cell files of that cell, newest first. Without a folder: in `out`, or in a run's folder a few levels down."""
    name = f"cell-{digits}.json"
    found = list((out or Path("out")).rglob(name))
    if not found and out is None:
        found = [
            path for pattern in (name, f"*/{name}", f"*/*/{name}", f"*/*/*/{name}") for path in Path().glob(pattern)
        ]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def _read(path: Path) -> CellFile:
    try:
        return msgspec.json.decode(path.read_bytes(), type=CellFile)
    except OSError as error:
        message = f"{path.name}: cannot be read: {error.strerror}"
        raise UsageError(message) from error
    except msgspec.MsgspecError as error:
        message = f"{path.name}: is no cell file: {error}"
        raise UsageError(message) from error


def _model(found: CellFile, given: str) -> ModelFile:
    try:
        model = resolve(given or found.cell.target.model, (found.model_suffix,))
    except ModelError as error:
        message = f"{error} (a path is relative to the folder the run started in; give --model FILE)"
        raise UsageError(message) from error
    if model.digest != found.cell.model_digest:
        message = f"{model.name} is not the model of that run: {model.digest[:12]}, not {found.cell.model_digest[:12]}"
        raise UsageError(message)
    return model


def _next_model(found: CellFile) -> ModelFile | None:
    """The model that the cell switched to, None where it did not."""
    wanted = found.expectations.next_digest
    if not wanted:
        return None
    reference = found.cell.target.next_model or next_version(found.cell.target.model)
    try:
        model = resolve(reference, (found.model_suffix,))
    except ModelError as error:
        message = f"{error} (the model that was switched to; a path is relative to the folder the run started in)"
        raise UsageError(message) from error
    if model.digest != wanted:
        message = f"{model.name} is not what was switched to in that run: {model.digest[:12]}, not {wanted[:12]}"
        raise UsageError(message)
    return model


def _replay(
    found: CellFile, model: ModelFile, schedule: Schedule, args: argparse.Namespace, switch: StopSwitch
) -> ReplayReport | Refusal:
    # A replay reports nothing until it is done: each repetition may take as long as the whole is allowed once.
    instrument = instrumented_packages(found.cell.service, found.cell.budget)
    staff = Staff(found.cell.target, args.hang_after + 0.5 * args.times, switch, instrument)
    try:
        with staff.borrowed("cells") as worker:
            if not isinstance(worker, Worker):
                return worker
            for each in (model, _next_model(found)):
                refusal = None if each is None else send_model(worker, each)
                if refusal is not None:
                    return refusal
            return _ask(worker, NeighbourProcess(staff, model), found, schedule, args.times)
    except WorkerStartError as error:
        raise UsageError(str(error)) from error


def _ask(
    worker: Worker, neighbour: NeighbourProcess, found: CellFile, schedule: Schedule, times: int
) -> ReplayReport | Refusal:
    """Replay, beside another process where one was watched: what it says is part of the history."""
    described = worker.ask("describe", DescribeParams(found.cell.service, (found.cell.scenario,)), Description)
    if not isinstance(described, Description):
        return described
    try:
        problem = neighbour.ready(found.expectations) if is_watched(found.cell, described.scenarios[0]) else None
        watched = problem == ""
        params = ReplayParams(found.cell, found.expectations, schedule, times, watched)
        answer = worker.ask("replay", params, ReplayReport, on_look=neighbour.look if watched else None)
    finally:
        neighbour.close()
    if problem and isinstance(answer, ReplayReport) and answer.failure is None:
        text = f"nothing is violated, but no other process on the device could be watched: {problem}"
        return ErrorReport("target", "Unwatched", text)
    return answer


def _tell(answer: ReplayReport | Refusal, times: int) -> int:
    if not isinstance(answer, ReplayReport):
        if not isinstance(answer, Death) and answer.kind == "usage":
            raise UsageError(answer.message)
        say(reason_of(answer))
        return 1 if isinstance(answer, Death) else UNDECIDED
    return _tell_report(answer, times)


def _tell_report(answer: ReplayReport, times: int) -> int:
    digests = sorted(set(answer.digests))
    many, kinds = ("replay" if times == 1 else "replays"), ("history" if len(digests) == 1 else "different histories")
    say(f"{times} {many}, {len(digests)} {kinds}: {', '.join(digest[:12] for digest in digests)}")
    if answer.failure is not None:
        say()
        say(failure_text(answer.failure, replay=False))
        say()
    if answer.divergence:
        say(f"the schedule could not be followed: {answer.divergence}")
    if answer.divergence or len(digests) != 1:
        return UNDECIDED
    if answer.failure is None:
        say("nothing is violated")
    return 1 if answer.failure else 0
