"""What `racegate gate` calls: read the files, decide, write `decision.json`, and only then have something to print."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path, PurePath

from reports.atomic import write_atomically
from reports.gate.decision import decide
from reports.gate.rendering import render
from reports.policy import PolicyError, load_policy
from reports.receipt_file import RECEIPT_FILE
from reports.strict_json import MAX_BYTES

__all__ = ["gate"]

BAD_USAGE, UNDECIDED = 2, 3

_CHUNK = 1024 * 1024


class _UsageError(Exception):
    """A file that was named is not there, or something was not named."""


def gate(
    policy_path: Path,
    model_paths: Sequence[Path],
    receipt_paths: Sequence[Path],
    out_path: Path,
    now: datetime,
    *,
    advisory: bool = False,
    challenge: str | None = None,
) -> tuple[int, str]:
    """Decide, write the decision to `out_path`, and return the exit code with the text to print.

    0 allow (or an advisory run), 1 deny, 2 a bad policy or a file that is not there, 3 could not decide: a file that
    cannot be read, or a decision that cannot be written. A receipt may be given as its run's folder. `challenge` is
    what the receipts must answer. `now` is aware, in UTC.
    """
    try:
        loaded = load_policy(policy_path)
        models = _models(model_paths)
        receipts = [(_label(path), _read_receipt(path)) for path in receipt_paths]
        decision = decide(loaded, receipts, models, now, challenge=challenge, advisory=advisory)
    except PolicyError as error:
        return BAD_USAGE, f"bad policy: {error}\n"
    except _UsageError as error:
        return BAD_USAGE, f"{error}\n"
    except OSError as error:
        return UNDECIDED, f"could not decide: {_label(Path(str(error.filename)))}: {error.strerror}\n"
    try:
        write_atomically(out_path, decision.to_json())
    except OSError as error:
        return UNDECIDED, f"could not decide: the decision cannot be written to {out_path.name}: {error.strerror}\n"
    return decision.exit_code, render(decision)


def _models(paths: Sequence[Path]) -> list[str]:
    if not paths:
        message = "no model was given: say with --model FILE which model is to ship"
        raise _UsageError(message)
    return [_digest(path) for path in paths]


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with _present(path, "model").open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def _read_receipt(path: Path) -> bytes:
    file_path = path / RECEIPT_FILE if path.is_dir() else path
    with _present(file_path, "receipt").open("rb") as file:
        # One byte more than is accepted is enough to refuse it.
        return file.read(MAX_BYTES + 1)


def _present(path: Path, what: str) -> Path:
    if not path.exists():
        message = f"there is no {what} {_label(path)}"
        raise _UsageError(message)
    return path


def _label(path: Path) -> str:
    """The path as typed where it is relative, else the last name alone: a home folder should not travel."""
    pure = PurePath(path)
    return pure.name if pure.is_absolute() or ".." in pure.parts else pure.as_posix()
