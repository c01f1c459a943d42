"""Whether rounds of opening, failing and hanging give everything back: the growth of each resource, as a slope.

python benchmarks/leaks.py [--rounds 500] [--runtime litert] [--loop open-close] [--write docs/leaks.md]

Each loop does the same thing again and again, and reads what the process has after every round: threads, file
descriptors, native instances (counted in C by the fault library, where one can be had), bytes that malloc has not got
back, Python's own allocations, and resident memory. The first fifth of the rounds, and 20 at least, fills caches and is
left out. Of the rest the slope is estimated by Theil and Sen's median with a 99 % interval; what grows for certain is
marked `LEAK`, and the exit status is then 1. Growth below 64 bytes a round from malloc, 8 allocations of Python's, or
1 KiB of resident memory counts as none, and so does what adds up to less than 16 KiB from malloc, or 256 KiB of
resident memory, over all the rounds: caches still fill.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from adapters.base import Adapter, AdapterError, Arrays, ModelFile, Session
from harness.faults.native import NativeFaults, NativeUnavailableError
from harness.faults.native.passthrough import float_tensors, with_passthrough
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.observe.resources import read_resources
from harness.observe.slope import Slope, slope_of
from harness.service.config import ServiceConfig
from harness.service.queue import SerialQueue

RUNTIMES = ("numpy", "litert", "tflite", "onnxruntime")
WARM_UP = 5, 20
"""One round in so many is left out, at the beginning, and so many at least."""
TOLERANCES = {"threads": 0.0, "files": 0.0, "instances": 0.0, "heap": 64.0, "blocks": 8.0, "resident": 1024.0}
"""Growth a round, in the resource's unit, that counts as none."""
ALLOWANCES = {"heap": 16 * 1024, "resident": 256 * 1024}
"""Growth over all rounds that counts as none: malloc keeps freed pieces for each thread, and counts them as used."""
UNITS = {"heap": "B", "resident": "B"}
ENDLESS = 100_000_000
ENDING_SECONDS = 0.1
"""What the threads of a round get to end in: on a busy machine the system takes a while to be done with one, and with
its memory. Threads that stay are waited for in vain, and are there at the reading."""
BEGIN, END = "<!-- leaks -->", "<!-- /leaks -->"


class Loop(Protocol):
    """One round of something that should leave nothing behind."""

    def __call__(self, subject: Subject) -> None:
        """Do it once."""


class Subject:
    """A runtime with a small model, through the fault library where there is one."""

    def __init__(self, runtime: str, adapter: Adapter | None = None) -> None:
        self.runtime = runtime
        self.adapter = adapter or load_adapter(runtime)
        self.without_library = ""
        self.faults: NativeFaults | None = None
        self.model = resolve("builtin:affine", self.adapter.suffixes)
        self.damaged = ModelFile(
            name="cut", suffix=self.model.suffix, data=self.model.data[: len(self.model.data) // 2]
        )
        self.slow = resolve("builtin:slow", self.adapter.suffixes)
        self.input = {"x": np.ones((1, 8), np.float32)}
        self._take_library()

    def _take_library(self) -> None:
        try:
            self.faults = NativeFaults.of(self.runtime)
        except NativeUnavailableError as error:
            self.without_library = str(error)
        if self.faults is None:
            self.without_library = self.without_library or "it has no native code of ours"
        elif self.runtime == "onnxruntime":
            data = with_passthrough(self.model.data, float_tensors(self.model.data)[0])
            self.model = ModelFile(name=self.model.name, suffix=self.model.suffix, data=data)

    def open(self, model: ModelFile | None = None) -> Session:
        """Open a session."""
        faults, delegate = self.faults, self.adapter.default_delegate
        options: dict[str, Any] = {}
        if faults is not None:
            options |= faults.options(self.runtime)
            delegate = delegate if self.runtime == "onnxruntime" else faults.delegate
        return self.adapter.open(model or self.model, delegate, options)

    def instances(self) -> int | None:
        """How many native instances are alive."""
        if self.faults is None:
            return None
        counters = self.faults.counters()
        return max(counters.live_delegates, counters.live_kernels)


def open_close(subject: Subject) -> None:
    """Open, run, close."""
    session = subject.open()
    session.run(subject.input)
    session.close()


def failed_open(subject: Subject) -> None:
    """A damaged model, and a delegate or operator that is not made, or that does not take the graph."""
    opened = 0
    with contextlib.suppress(AdapterError):
        subject.open(subject.damaged)
        opened += 1
    for point in () if subject.faults is None else ("create", "init"):
        assert subject.faults is not None
        subject.faults.arm("fail", point=point)
        with contextlib.suppress(AdapterError):
            subject.open().close()
            opened += 1
        subject.faults.disarm()
    assert opened == 0, "none of them opens"


def failed_run(subject: Subject) -> None:
    """A run that fails in native code, or, in numpy, at its input; another, and one after the session is closed."""
    session = subject.open()
    if subject.faults is not None:
        subject.faults.arm("fail")
    failed = 0
    attempts: list[Arrays] = [subject.input, {}]
    for given in attempts[subject.faults is None :]:
        failed += _fails(session, given)
    session.close()
    failed += _fails(session, subject.input)
    if subject.faults is not None:
        subject.faults.disarm()
    assert failed == (2 if subject.faults is None else 3), "each of them fails"


def _fails(session: Session, given: Arrays) -> bool:
    try:
        session.run(given)
    except AdapterError:
        return True
    return False


def held_hang(subject: Subject) -> None:
    """A run that hangs in a queue's worker; its task is cancelled, the queue is asked to close, and the run let go."""
    faults = subject.faults

    def opener(*, fallback: bool = False) -> Session:
        del fallback
        return subject.open(None if faults else subject.slow)

    queue = SerialQueue(opener, ServiceConfig(capacity=2))
    if faults is None:
        future = queue.submit({"x": np.ones((256, 64), np.float32), "n": np.array([ENDLESS], np.int32)})
        _until(future.running)
    else:
        faults.arm("hang")
        future = queue.submit(subject.input)
        assert faults.wait_held(1), "the run is held"
    assert future.cancel(), "a running task can be cancelled"
    if faults is not None:
        faults.let_go()
    queue.close()
    if faults is not None:
        faults.disarm()


def _until(happened: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.0005)


def _let_end(threads: int) -> None:
    """Wait until there are no more threads than that."""
    _until(lambda: (read_resources().threads or 0) <= threads, ENDING_SECONDS)


LOOPS: dict[str, Loop] = {
    "open-close": open_close,
    "failed-open": failed_open,
    "failed-run": failed_run,
    "held-hang-and-cancel": held_hang,
}


@dataclass(frozen=True, slots=True)
class Row:
    """How one resource grew in one loop."""

    runtime: str
    loop: str
    resource: str
    slope: Slope

    @property
    def leaks(self) -> bool:
        """Whether growth is shown."""
        allowed = ALLOWANCES.get(self.resource, 0) / self.slope.rounds
        return self.slope.grows(max(TOLERANCES[self.resource], allowed))


def measure(subject: Subject, name: str, loop: Loop, rounds: int) -> Iterator[Row]:
    """Run a loop, and give the growth of each resource that can be read here."""
    warm_up = max(rounds // WARM_UP[0], WARM_UP[1])
    gc.collect()
    gc.freeze()  # what was there before need not be looked at in every round
    threads = read_resources().threads or 0
    series = np.full((len(TOLERANCES), rounds), np.nan)  # made beforehand: a list of readings would itself grow
    for number in range(rounds):
        loop(subject)
        _let_end(threads)
        now = read_resources()
        if number < warm_up:
            threads = now.threads or 0  # a runtime's own stay
        for row, resource in enumerate(TOLERANCES):
            value = subject.instances() if resource == "instances" else getattr(now, resource)
            series[row, number] = np.nan if value is None else value
    gc.unfreeze()
    for resource, readings in zip(TOLERANCES, series, strict=True):
        if not np.isnan(readings).any():
            yield Row(subject.runtime, name, resource, slope_of(readings, warm_up=warm_up))


def table(rows: Sequence[Row]) -> str:
    """One line for each loop, one column for each resource: slope, and interval where it has a width."""
    lines = [
        f"| runtime | loop | {' | '.join(TOLERANCES)} |",
        f"|---|---|{'---|' * len(TOLERANCES)}",
    ]
    found = {(row.runtime, row.loop, row.resource): row for row in rows}
    for runtime, loop in dict.fromkeys((row.runtime, row.loop) for row in rows):
        cells = [_cell(found.get((runtime, loop, resource))) for resource in TOLERANCES]
        lines.append(f"| {runtime} | {loop} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row | None) -> str:
    if row is None:
        return "not counted"
    slope = row.slope
    interval = "" if slope.low == slope.high else f" ({_number(slope.low)} to {_number(slope.high)})"
    unit = f" {UNITS[row.resource]}" if row.resource in UNITS else ""
    return f"{_number(slope.per_round)}{unit}{interval}{' LEAK' if row.leaks else ''}"


def _number(value: float) -> str:
    return f"{round(value, 2 if abs(value) < 1 else None):g}" if round(value, 2) else "0"


def _runtimes(wanted: Sequence[str]) -> Iterator[str]:
    for runtime in wanted or RUNTIMES:
        found = load_adapter(runtime).probe()
        if found.importable:
            yield runtime
        else:
            sys.stderr.write(f"{runtime}: left out, {found.why_not}\n")


def main() -> int:
    """Measure, print the table, and write it between the markers of a file if that is asked for."""
    parser = argparse.ArgumentParser(description="the growth of each resource over rounds that should leave nothing")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--runtime", action="append", default=[], choices=RUNTIMES)
    parser.add_argument("--loop", action="append", default=[], choices=LOOPS)
    parser.add_argument("--write", type=Path, metavar="FILE")
    args = parser.parse_args()
    rows: list[Row] = []
    for runtime in _runtimes(args.runtime):
        subject = Subject(runtime)
        if subject.without_library:
            sys.stderr.write(f"{runtime}: no native instances are counted, {subject.without_library}\n")
        for name in args.loop or LOOPS:
            rows += measure(subject, name, LOOPS[name], args.rounds)
    text = table(rows)
    sys.stdout.write(text)
    if args.write is not None:
        before, _, rest = args.write.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        args.write.write_text(f"{before}{BEGIN}\n{text}{END}{after}", encoding="utf-8")
    return 1 if any(row.leaks for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
