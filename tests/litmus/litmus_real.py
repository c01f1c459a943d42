"""Runs litmus programs on real threads, in a process without the engine: prints each program's outcomes as JSON.

Half of the runs switch threads as often as the interpreter can; in the other half each line, or each instruction, of
the program and of the library's own modules below it may be followed by a nap of up to 50 us.
"""

import argparse
import json
import os
import queue
import random
import sys
import threading
import time
from collections import Counter
from concurrent.futures import _base, thread
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from litmus_programs import FOLDER, load

_FRAGILE = {"_wait_for_tstate_lock", "_stop"}
"""Up to Python 3.12 two joins of one thread race in there, and the second dies of a RuntimeError."""


class _Jitter:
    """Traces a few files, and naps there now and then."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        library = {module.__file__ for module in (queue, threading, _base, thread)}
        self._files = library | {str(path) for path in FOLDER.glob("*.py")}
        self._chance = 0.0
        self._opcodes = False

    def start(self, run):
        self._chance = (0.0, 0.02, 0.1, 0.3)[run % 4]
        self._opcodes = run % 8 >= 4
        trace = self._call if self._chance else None
        threading.settrace(trace)
        sys.settrace(trace)

    def stop(self):
        sys.settrace(None)
        threading.settrace(None)

    def _call(self, frame, _event, _argument):
        if frame.f_code.co_filename not in self._files or frame.f_code.co_name in _FRAGILE:
            return None
        frame.f_trace_opcodes = self._opcodes
        self._nap()
        return self._step

    def _step(self, _frame, _event, _argument):
        self._nap()
        return self._step

    def _nap(self):
        if self._random.random() < self._chance:
            time.sleep(self._random.choice((0, 0, 1e-5, 5e-5)))


def _runs(program, jitter, most, seconds):
    ends = time.monotonic() + seconds
    seen = Counter()
    while seen.total() < most and (time.monotonic() < ends or not seen):
        jitter.start(seen.total())
        try:
            outcome = program.run([])
        finally:
            jitter.stop()
        seen[repr(outcome)] += 1
    return seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=1.0, help="at most, for each program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    sys.setswitchinterval(1e-6)
    jitter = _Jitter(options.seed)
    for program in load(instrumented=False):
        if not program.can_hang and (not options.ids or program.id in options.ids):
            seen = _runs(program, jitter, options.runs, options.seconds)
            print(json.dumps({"id": program.id, "seen": dict(seen)}), flush=True)  # noqa: T201 - the parent reads it
    assert "harness.engine.install" not in sys.modules, "these threads are real"
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
