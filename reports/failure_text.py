"""One failure as a person reads it in a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from harness.verdict import Failure, Violation
from reports.escape import plain_text
from reports.facts import replay_command
from reports.interleaving import WIDTH, interleaving

__all__ = ["failure_text"]

_CAUSES = ("own-output", "no-deadlock", "terminal-once")
"""What says best what went wrong: a wrong answer, then threads that hang. The others follow from them more often."""
_ONLY_WAITS = re.compile(r"lost wakeup: \S+ waits for the outcome")
"""A client that waits for a task that never ended: the task is what went wrong."""
_LABEL = "What went wrong: "


def failure_text(failure: Failure, *, replay: bool = True) -> str:
    """What went wrong, each broken invariant with its proof, the interleaving, who waits for what, how to replay it."""
    return "\n".join(plain_text(line) for line in _lines(failure, replay=replay))


def _lines(failure: Failure, *, replay: bool) -> Iterator[str]:
    ordered = sorted(failure.violations, key=_rank)
    for number, violation in enumerate(ordered):
        label = _LABEL if number == 0 else "also: ".rjust(len(_LABEL))
        yield from _wrapped(label, f"{violation.message} ({violation.invariant}{_proof(violation.events)})")
    yield ""
    yield from interleaving(failure).splitlines()
    if failure.blocked:
        yield ""
        for line in failure.blocked:
            yield from _wrapped("  ", line)
    if replay:
        yield ""
        yield f"  {replay_command(failure)}"


def _rank(violation: Violation) -> int:
    known = violation.invariant in _CAUSES and not _ONLY_WAITS.match(violation.message)
    return _CAUSES.index(violation.invariant) if known else len(_CAUSES)


def _proof(events: Sequence[int]) -> str:
    if not events:
        return ""
    return f", event{'' if len(events) == 1 else 's'} {', '.join(map(str, events))}"


def _wrapped(label: str, text: str) -> list[str]:
    indent = " " * len(label)
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=label,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
