"""What an output folder already holds: how often the same thing was run, and the last receipt for it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from harness.verdict import RunRecord
from reports.predicate import statement
from reports.receipt_file import RECEIPT_FILE

__all__ = ["PastRuns"]

Question: TypeAlias = tuple[str, ...]
"""What makes two runs attempts at the same: model, runtime, delegate, service, suite."""


@dataclass(frozen=True, slots=True)
class _Past:
    finished_on: str
    payload: str


class PastRuns:
    """The receipts of an output folder by what they are about. What cannot be read counts for nothing."""

    def __init__(self, out: Path) -> None:
        self._past: dict[Question, list[_Past]] = {}
        for payload in _payloads(out):
            self._add(payload)

    def chained(self, run: RunRecord) -> RunRecord:
        """The record with its attempt number and the digest of the receipt before it."""
        past = self._past.get(_question(statement(run)), [])
        if not past:
            return run
        last = max(past, key=lambda item: item.finished_on)
        return msgspec.structs.replace(run, attempt=len(past) + 1, previous_receipt=last.payload)

    def _add(self, payload: bytes) -> None:
        try:
            question = _question(json.loads(payload))
            finished_on = str(json.loads(payload)["predicate"]["finishedOn"])
        except (ValueError, KeyError, TypeError, IndexError):
            return
        self._past.setdefault(question, []).append(_Past(finished_on, hashlib.sha256(payload).hexdigest()))


def _payloads(out: Path) -> Iterator[bytes]:
    for path in sorted(out.glob(f"*/{RECEIPT_FILE}")):
        try:
            yield base64.b64decode(json.loads(path.read_bytes())["payload"])
        except (OSError, ValueError, KeyError, TypeError, binascii.Error):
            continue


def _question(found: Any) -> Question:
    document = cast("dict[str, Any]", found)
    predicate = document["predicate"]
    return (
        str(document["subject"][0]["digest"]["sha256"]),
        str(predicate["runtime"]["name"]),
        str(predicate["delegate"]["requested"]),
        str(predicate["service"]["name"]),
        str(predicate["suite"]["id"]),
    )
