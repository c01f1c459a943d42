"""Run by `test_leaks.py` in a process of its own: adapters that leak one thing each, and what is found of them."""

import itertools
import json
import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
import leaks

from harness.models.registry import load_adapter

ROUNDS = 40
KEPT = []
NEVER = threading.Event()


def memory(_session):
    """4 KiB a round that malloc does not get back."""
    KEPT.append(bytearray(4096))


def thread(_session):
    """A thread that never ends."""
    threading.Thread(target=NEVER.wait, daemon=True).start()


def file(_session):
    """A descriptor that nobody closes."""
    KEPT.append(os.dup(0))


def instance(session):
    """The native side of a session, after its close."""
    KEPT.append(vars(session).get("_interpreter") or vars(session).get("_native"))


def nothing(_session):
    """The twin."""


def leaking(runtime, leak):
    """An adapter of that runtime that leaks at every open."""
    adapter = load_adapter(runtime)
    opens = type(adapter).open

    def opening(self, model, delegate, options):
        session = opens(self, model, delegate, options)
        leak(session)
        return session

    return type("Leaking", (type(adapter),), {"open": opening})()


def main(runtime):
    found = {}
    for leak in (nothing, memory, thread, file, instance):
        subject = leaks.Subject(runtime, leaking(runtime, leak))
        rows = leaks.measure(subject, "open-close", leaks.open_close, ROUNDS)
        found[leak.__name__] = {row.resource: row.slope.per_round for row in rows if row.leaks}
    sys.stdout.write(json.dumps(found))


main(*itertools.islice(sys.argv, 1, 2))
