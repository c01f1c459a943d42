"""Instrumented code does what the plain code does, and reports the accesses on which threads can race."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading
import traceback
import types
from collections import deque

import pytest

from harness.engine.instrument.runtime import names
from harness.engine.instrument.transform import mutable_names, transform
from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.threads import current

SOURCE = """
from collections import deque, OrderedDict

total = 0

class Base:
    def __init__(self):
        self._fixed = [1, 2, 3]
        self._count = 0
        self.__hidden = 5
        self._items = deque()

    def bump(self, by=1):
        self._count += by
        self.__hidden = self.__hidden + self._count
        return self.__hidden

    def fill(self, values):
        for value in values:
            self._items.append(value)
        return len(self._items), 3 in self._items, [item * 2 for item in self._items]

    def table(self):
        rows = {"a": [1], "b": [2]}
        rows["a"][0] += 10
        rows["c"] = rows.pop("b")
        del rows["c"][0]
        (first, self._count), rows["d"] = (7, 8), 9
        return first, self._count, rows, rows["a"][-1], self._fixed[1:]

class Derived(Base):
    def bump(self, by=2):
        before = super().bump(by)
        self._count: int = before if not self._items else -before
        return self._count or None

def add(number):
    global total
    total += number
    return total

def counter():
    seen = 0
    def step():
        nonlocal seen
        seen += 1
        return seen
    return step

def fails(thing):
    thing._count = 1
    thing._count = thing.missing
"""


def load(instrumented):
    tree = ast.parse(SOURCE, "sample.py")
    module = types.ModuleType("sample")
    if instrumented:
        module.__dict__.update(names())
        tree = transform(tree, mutable_names(tree))
    exec(compile(tree, "sample.py", "exec"), module.__dict__)
    return module


def behaviour(module):
    derived = module.Derived()
    step = module.counter()
    return [
        derived.bump(), derived.bump(by=5), derived.fill([3, 4]), derived.table(), derived.bump(),
        module.add(3), module.add(4), module.total, step(), step(), sorted(vars(derived)),
    ]  # fmt: skip


def test_instrumented_code_does_what_the_plain_code_does():
    assert behaviour(load(instrumented=True)) == behaviour(load(instrumented=False))


def test_tracebacks_keep_their_lines():
    lines = []
    for instrumented in (False, True):
        module = load(instrumented)
        with pytest.raises(AttributeError) as failure:
            module.fails(module.Base())
        lines.append([frame.lineno for frame in traceback.extract_tb(failure.tb) if frame.filename == "sample.py"])
    assert lines[0] == lines[1]


def test_only_what_is_stored_again_is_mutable():
    assert mutable_names(ast.parse(SOURCE)) == {"_count", "__hidden"}


RACY = """
class Once:
    def __init__(self):
        self._done = False
        self._runs = 0

    def run(self):
        if not self._done:
            self._done = True
            self._runs += 1
        return self._runs
"""


def racy_program(statements):
    tree = ast.parse(RACY)
    module = types.ModuleType("racy")
    module.__dict__.update(names())
    exec(compile(transform(tree, mutable_names(tree)), "racy.py", "exec"), module.__dict__)

    def program(_):
        current().kernel.at_statements = statements
        once = module.Once()
        threads = [threading.Thread(target=once.run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return once._runs

    return program


def test_a_race_between_statements_shows_only_at_statement_granularity(bench):
    assert {run.result for run in bench.many(racy_program(statements=False), 100)} == {1}
    assert {run.result for run in bench.many(racy_program(statements=True), 100)} == {1, 2}


def explore(bench, program, bound, *, reduce, limit=200_000):
    strategy = Exhaustive(bound, reduce=reduce)
    outcomes, executions = set(), 0
    while executions < limit:
        run = bench.search(program, strategy, executions)
        if run is None:
            break
        executions += 1
        if not run.kernel.pruned:
            outcomes.add((run.result, tuple(run.left), tuple(run.trace)))
    assert strategy.exhausted
    return outcomes, executions


def two_puts_into_a_queue_of_one(_):
    import queue

    box = queue.Queue(1)
    threads = [threading.Thread(target=box.put, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    got = [box.get() for _ in range(2)]
    for thread in threads:
        thread.join()
    return tuple(got)


def a_condition_and_a_time_out(_):
    changed = threading.Condition()
    ready = deque()

    def tell():
        with changed:
            ready.append("told")
            changed.notify()

    thread = threading.Thread(target=tell)
    thread.start()
    with changed:
        heard = changed.wait_for(lambda: bool(ready), timeout=1.0)
    thread.join()
    return heard, tuple(ready)


def a_future_and_a_cancel(_):
    from concurrent.futures import Future

    future = Future()

    def work():
        if future.set_running_or_notify_cancel():
            future.set_result("done")

    thread = threading.Thread(target=work)
    thread.start()
    answer = future.cancel()
    thread.join()
    return answer, future.cancelled()


def a_pair_of_locks(_):
    a, b = threading.Lock(), threading.Lock()

    def forward():
        with a, b:
            pass

    thread = threading.Thread(target=forward)
    thread.start()
    with b, a:
        pass
    thread.join()
    return "done"


PROGRAMS = [two_puts_into_a_queue_of_one, a_condition_and_a_time_out, a_future_and_a_cancel, a_pair_of_locks]


@pytest.mark.parametrize("bound", [0, 1, 2])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_reduction_leaves_no_outcome_out(bench, program, bound):
    full, without = explore(bench, program, bound, reduce=False)
    reduced, within = explore(bench, program, bound, reduce=True)
    assert reduced == full
    assert within <= without


def test_the_outcomes_within_two_preemptions_are_those_that_one_expects(bench):
    assert {outcome[0] for outcome in explore(bench, two_puts_into_a_queue_of_one, 2, reduce=True)[0]} == {
        (0, 1),
        (1, 0),
    }
    assert {outcome[0] for outcome in explore(bench, a_future_and_a_cancel, 1, reduce=True)[0]} == {
        (True, True),
        (False, False),
    }
    assert {outcome[0] for outcome in explore(bench, a_pair_of_locks, 1, reduce=True)[0]} == {"done", None}
    heard = {outcome[0] for outcome in explore(bench, a_condition_and_a_time_out, 1, reduce=True)[0]}
    assert heard == {(True, ("told",)), (False, ("told",))}


@pytest.mark.parametrize("bound", [0, 1, 2])
def test_the_reduction_sees_races_on_plain_attributes(bench, bound):
    program = racy_program(statements=True)
    full, _ = explore(bench, program, bound, reduce=False)
    assert explore(bench, program, bound, reduce=True)[0] == full
    assert {outcome[0] for outcome in full} == ({1} if bound == 0 else {1, 2})


def test_the_library_s_modules_are_refitted_in_place():
    code = """
import sys, concurrent.futures, queue
from harness.engine.install import install
install()
from harness.engine.instrument.loader import Instrumenter
import concurrent.futures.thread as threads
before = threads._worker.__code__
Instrumenter([]).activate()
assert threads._worker.__code__ is not before
assert "_racegate_get" in threads._worker.__code__.co_names
with concurrent.futures.ThreadPoolExecutor(2) as executor:
    assert sorted(executor.map(abs, [-1, -2, 3])) == [1, 2, 3]
box = queue.PriorityQueue(); box.put(2); box.put(1)
assert [box.get(), box.get()] == [1, 2]
try:
    concurrent.futures.Future().result(timeout=0.01)
except TimeoutError:
    print("as before")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "as before\n", done.stderr


def test_a_package_is_instrumented_by_import_and_a_late_one_is_refused():
    code = """
import harness.engine.install as engine
engine.install()
from harness.engine.instrument.loader import Instrumenter
instrumenter = Instrumenter(["harness.service"])
instrumenter.activate()
import harness.service.bounded as bounded
assert "harness.service.bounded" in instrumenter.loaded
assert any(name.startswith("_racegate_") for name in bounded.BoundedService.submit.__code__.co_names)
try:
    Instrumenter(["harness.service"]).activate()
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "was imported before it could be instrumented" in done.stdout, done.stderr
