"""The files of one run: written beside their final place, and moved there in one step, the receipt among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from harness.verdict import RunRecord
from reports import envelope
from reports.atomic import write_durably
from reports.digests import canonical
from reports.evidence import evidence_files
from reports.held import new_held_folder, remove_left_over
from reports.html import html_page
from reports.junit import junit_xml
from reports.predicate import predicate, run_suite_digest, statement_bytes
from reports.receipt_file import RECEIPT_FILE
from reports.summary import summary

__all__ = ["RunExistsError", "remove_half_written", "run_files", "suite_lock", "write_run"]


_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)


class RunExistsError(Exception):
    """The folder of that run is there already; a run is never overwritten."""


def write_run(
    out: Path,
    run: RunRecord,
    private_key: Ed25519PrivateKey | None = None,
    extra_files: Mapping[str, bytes] | None = None,
) -> Path:
    """Write `out/RUN_ID/` and return it. Without a key the receipt is unsigned and every report says so.

    The folder is there whole or not at all, whenever the process is killed. `extra_files` (such as `cell.json`) go
    beside the receipt. Raises RunExistsError, ValueError for a name that is no plain file name, and OSError.
    """
    files = run_files(run, private_key)
    for name, data in (extra_files or {}).items():
        if not _FILE_NAME.fullmatch(name) or name in files:
            message = f"{name!r} is no name for a file beside the receipt"
            raise ValueError(message)
        files = {name: data, **files}
    target = _target(out, run.run_id)
    out.mkdir(parents=True, exist_ok=True)
    held = new_held_folder(out, f".{run.run_id}.partial-")
    partial = held.path
    try:
        for name, data in files.items():
            write_durably(partial / name, data)
        partial.chmod(0o755)
        partial.rename(target)
    except OSError:
        # Another process may have written the same run meanwhile; what the system then says differs.
        if target.exists():
            raise _exists(run.run_id) from None
        raise
    finally:
        held.remove()
    return target


def remove_half_written(out: Path) -> int:
    """Remove what processes that were killed in the middle of `write_run` left. Returns how many runs that were."""
    return remove_left_over(out, ".*.partial-*")


def run_files(run: RunRecord, private_key: Ed25519PrivateKey | None = None) -> dict[str, bytes]:
    """Every file of a run by name, the receipt last."""
    signed = private_key is not None
    statement = statement_bytes(run)
    receipt = envelope.sign(statement, private_key) if private_key is not None else envelope.unsigned(statement)
    return {
        **evidence_files(run),
        "predicate.json": canonical(predicate(run)) + b"\n",
        "suite.lock.json": suite_lock(run),
        "junit.xml": junit_xml(run),
        "summary.md": summary(run, signed=signed).encode(),
        "report.html": html_page(run, signed=signed),
        RECEIPT_FILE: receipt,
    }


def suite_lock(run: RunRecord) -> bytes:
    """The suite as it ran: what a gate policy pins by `suite.digest`."""
    scenarios = sorted([cell.scenario, cell.scenario_digest] for cell in run.cells)
    lock = {
        "schema": "suite-lock/1",
        "id": run.suite.id,
        "version": run.suite.version,
        "digest": run_suite_digest(run),
        "scenarios": [{"id": name, "digest": digest} for name, digest in scenarios],
    }
    return canonical(lock) + b"\n"


def _target(out: Path, run_id: str) -> Path:
    if not _FILE_NAME.fullmatch(run_id):
        message = f"{run_id!r} is no run id: letters, digits, dots, dashes and underscores"
        raise ValueError(message)
    target = out / run_id
    if target.exists():
        raise _exists(run_id)
    return target


def _exists(run_id: str) -> RunExistsError:
    return RunExistsError(f"the run {run_id} has been written already")
