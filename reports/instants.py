"""RFC 3339 instants in UTC and ISO 8601 durations, in the one form that receipts and policies use."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

__all__ = ["format_instant", "parse_duration", "parse_instant"]

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)
_DURATION = re.compile(
    r"P(?:(?P<weeks>\d{1,6})W"
    r"|(?:(?P<days>\d{1,6})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,6})H)?(?:(?P<minutes>\d{1,6})M)?(?:(?P<seconds>\d{1,6})S)?)?)",
    re.ASCII,
)


def parse_instant(text: str) -> datetime:
    """Read `2026-11-29T18:00:00Z`. Raises ValueError for any other form and for times that do not exist."""
    if not _INSTANT.fullmatch(text):
        message = f"{text!r} is not a time like 2026-11-29T18:00:00Z"
        raise ValueError(message)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is not a time that exists"
        raise ValueError(message) from None


def format_instant(instant: datetime) -> str:
    """Write an aware datetime in UTC, to the second, ending in Z."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_duration(text: str) -> timedelta:
    """Read `P14D`, `PT5M`, `P1DT12H` or `P2W`. Years and months are refused: their length depends on the calendar."""
    match = _DURATION.fullmatch(text)
    parts = {unit: int(count) for unit, count in match.groupdict().items() if count} if match else {}
    if not parts:
        message = f"{text!r} is not a duration like P14D, PT5M or P1DT12H"
        raise ValueError(message)
    return timedelta(**parts)
