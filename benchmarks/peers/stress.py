"""Runs the workload on real threads. Argument: `plain`, or `hypothesis` for delays that Hypothesis draws.

The interpreter switches threads every microsecond if it can. A thread that has not ended in time counts as blocked
for ever and is left behind.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import queue_under_test as workload
from runner import Found, serve

_clock = time.perf_counter
_SWITCH_SECONDS = 1e-6
_PATIENCE_SECONDS = 0.5
"""How long threads that should end in a millisecond are waited for."""
_DELAYS = 6
_LONGEST_DELAY_US = 200
_EXAMPLES = 100_000


class BugFoundError(Exception):
    """Ends a search by Hypothesis."""


class OutOfTimeError(Exception):
    """Ends a search by Hypothesis that found nothing."""


class Once:
    """One execution on real threads. `delays` are microseconds by which the threads begin later."""

    def __init__(self, kind: type[workload.TextbookQueue], delays: tuple[int, ...] = ()) -> None:
        self.reason = ""
        self._delays = delays
        program = workload.Program(kind)
        threads = [
            threading.Thread(target=self._carry, args=(number, body), daemon=True)
            for number, body in enumerate(program.bodies)
        ]
        for thread in threads:
            thread.start()
        deadline = _clock() + _PATIENCE_SECONDS
        for thread in threads:
            thread.join(0 if self.reason else max(0.0, deadline - _clock()))
        if any(thread.is_alive() for thread in threads):
            self.reason = self.reason or "blocked for ever"
            return
        try:
            program.check()
        except AssertionError as error:
            self.reason = self.reason or f"AssertionError: {error}"

    def _carry(self, number: int, body: Callable[[], None]) -> None:
        if self._delays:
            time.sleep(self._delays[number % len(self._delays)] / 1e6)
        try:
            body()
        except BaseException as error:  # noqa: BLE001 - however a thread fails, it is a find
            self.reason = f"{type(error).__name__}: {error}"


def plain(kind: str, seconds: float, seed: int, *, stop: bool) -> Found:
    """Again and again, as the system schedules."""
    del seed
    queue_kind = (workload.BUGS | workload.CORRECT)[kind]
    began, executions, reason = _clock(), 0, ""
    while _clock() - began < seconds and not (stop and reason):
        reason = Once(queue_kind).reason or reason
        executions += 1
    return Found(executions, _clock() - began, reason)


def drawn(kind: str, seconds: float, seed: int, *, stop: bool) -> Found:
    """With the delays that Hypothesis draws, without shrinking: the first failure counts."""
    import hypothesis  # noqa: PLC0415 - only this mode needs it
    from hypothesis import strategies  # noqa: PLC0415

    queue_kind = (workload.BUGS | workload.CORRECT)[kind]
    began, executions, reason = _clock(), 0, ""
    delay = strategies.integers(0, _LONGEST_DELAY_US)

    def attempt(delays: tuple[int, ...]) -> None:
        nonlocal executions, reason
        if _clock() - began >= seconds:
            raise OutOfTimeError
        executions += 1
        reason = Once(queue_kind, delays).reason or reason
        if stop and reason:
            raise BugFoundError

    settings: Any = hypothesis.settings(
        max_examples=_EXAMPLES,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
    )
    search: Any = hypothesis.seed(seed)(
        settings(hypothesis.given(strategies.tuples(*[delay] * _DELAYS))(attempt)),
    )
    # The first two end the search; and a race need not fail again when Hypothesis repeats it.
    with contextlib.suppress(BugFoundError, OutOfTimeError, hypothesis.errors.Flaky):
        search()
    return Found(executions, _clock() - began, reason)


if __name__ == "__main__":
    sys.setswitchinterval(_SWITCH_SECONDS)
    serve(drawn if sys.argv[1] == "hypothesis" else plain)
