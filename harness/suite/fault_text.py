"""A fault as the command line has it: `NAME[@POINT][:KEY=VALUE]...`."""

from __future__ import annotations

import msgspec

from harness.suite.file import SuiteError
from harness.suite.plan import FaultSpec

__all__ = ["parse_fault"]

_FIELDS = {"nth": int, "session": str, "task": str, "p": float, "seed": int}
_FORM = "NAME[@POINT][:nth=N][:session=sN][:task=tN][:always][:p=P][:seed=N]"


def parse_fault(text: str) -> FaultSpec:
    """Read one fault, as in `run-failure@bind:nth=3`. Raises SuiteError for what has not this form."""
    where, *settings = text.split(":")
    name, at, point = where.partition("@")
    if not name or (at and not point):
        raise _malformed(text, "there is no name" if not name else "there is no point after @")
    spec = FaultSpec(name, point)
    for setting in settings:
        spec = msgspec.structs.replace(spec, **_setting(text, setting))
    return spec


def _setting(text: str, setting: str) -> dict[str, bool | int | float | str]:
    if setting == "always":
        return {"persistent": True}
    key, equals, value = setting.partition("=")
    if not equals or key not in _FIELDS:
        raise _malformed(text, f"{setting!r} is no setting")
    try:
        return {"probability" if key == "p" else key: _FIELDS[key](value)}
    except ValueError:
        raise _malformed(text, f"{value!r} is no number") from None


def _malformed(text: str, why: str) -> SuiteError:
    return SuiteError(f"fault {text!r}: {why}; write {_FORM}")
