"""What the engine claims of a search, shown on small programs: see docs/litmus.md."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # importlib mode: the other modules lie beside this one
from litmus_control import Control, instrument_the_library
from litmus_known import DIFFERS_BY_CARRIER, LOST_BY_REDUCTION, NEVER_REAL, NOT_UNDER_CONTROL, UNSEEN_STATE
from litmus_programs import load

PROGRAMS = load(instrumented=True)
SEARCHES = [
    pytest.param(program, statements, id=f"{program.id}{'-statements' if statements else ''}")
    for program in PROGRAMS
    for statements in ((False, True) if program.statements else (False,))
]
MOST = 300
"""Executions of an unreduced search, in the tests that always run."""
MOST_IN_A_SOAK = 60_000


@pytest.fixture(scope="module", autouse=True)
def library():
    undo = instrument_the_library()
    yield
    undo()


@pytest.fixture(scope="module")
def control():
    return Control("greenlets")


def same_outcomes(control, program, statements, bound, most):
    """Whether both searches see the same; None if the unreduced space has more than `most` executions."""
    full = control.exhaust(program, bound, reduce=False, statements=statements, most=most)
    if not full.whole:
        return None
    reduced = control.exhaust(program, bound, reduce=True, statements=statements)
    assert reduced.executions <= full.executions
    assert set(reduced.outcomes) <= set(full.outcomes)
    lost = set(full.outcomes) - set(reduced.outcomes)
    if program.id in LOST_BY_REDUCTION:
        return bool(lost) or bound == 0
    return not lost


def test_there_are_a_hundred_programs_and_each_name_is_used_once():
    assert len(PROGRAMS) >= 100
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    everything = {program.id for program in PROGRAMS}
    assert set(LOST_BY_REDUCTION) | set(NOT_UNDER_CONTROL) | UNSEEN_STATE <= everything


@pytest.mark.parametrize("bound", [0, 1, 2])
@pytest.mark.parametrize(("program", "statements"), SEARCHES)
def test_the_reduction_leaves_no_outcome_out(control, program, statements, bound):
    same = same_outcomes(control, program, statements, bound, MOST)
    if same is None:
        pytest.skip(f"over {MOST} executions without the reduction: `make soak` searches them")
    assert same


@pytest.mark.soak
@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize(("program", "statements"), SEARCHES)
def test_the_reduction_leaves_no_outcome_out_of_large_spaces(control, program, statements, bound):
    same = same_outcomes(control, program, statements, bound, MOST_IN_A_SOAK)
    if same is None:
        pytest.skip(f"over {MOST_IN_A_SOAK} executions without the reduction")
    assert same


def same_on_both_carriers(control, program, executions, statements):
    threads = Control("os_thread")
    on_greenlets, on_threads = (
        carriers.walk(program, executions, seed=5, statements=statements) for carriers in (control, threads)
    )
    threads.carriers.close()
    return on_threads == on_greenlets


@pytest.mark.parametrize(("program", "statements"), SEARCHES)
def test_both_carriers_make_the_same_executions(control, program, statements):
    same = same_on_both_carriers(control, program, 10, statements)
    assert same is (program.id not in DIFFERS_BY_CARRIER)


@pytest.mark.soak
@pytest.mark.parametrize(("program", "statements"), SEARCHES)
def test_both_carriers_make_the_same_executions_often(control, program, statements):
    same = same_on_both_carriers(control, program, 500, statements)
    assert same is (program.id not in DIFFERS_BY_CARRIER)


def on_real_threads(runs, seconds, *ids):
    """Each program's outcomes on real threads, in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("litmus_real.py")), "--runs", str(runs)]
    done = subprocess.run(
        [*command, "--seconds", str(seconds), *ids], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    return {line["id"]: set(line["seen"]) for line in map(json.loads, done.stdout.splitlines())}


def not_under_control(control, seen):
    """What real threads show and no search within two preemptions; within three, where two are not enough."""
    missing = {}
    for program in (program for program in PROGRAMS if program.id not in UNSEEN_STATE):
        left = seen.get(program.id, set()) - set(NOT_UNDER_CONTROL.get(program.id, ()))
        for bound in (1, 2, 3):
            if left:
                space = control.exhaust(program, bound, reduce=program.id not in LOST_BY_REDUCTION,
                                        statements=program.statements, most=20_000)  # fmt: skip
                left -= space.results
        if left:
            missing[program.id] = left
    return missing


@pytest.mark.soak  # real threads show what they like: a run of bad luck must not fail a change
def test_what_real_threads_show_is_seen_under_control(control):
    seen = on_real_threads(40, 0.05)
    assert set(seen) == {program.id for program in PROGRAMS if not program.can_hang}
    assert not not_under_control(control, seen)


@pytest.mark.soak
def test_what_real_threads_show_in_many_runs_is_seen_under_control(control):
    assert not not_under_control(control, on_real_threads(1_000, 3))


@pytest.mark.parametrize("name", sorted(NOT_UNDER_CONTROL))
def test_what_is_known_to_be_missed_still_is(control, name):
    program = next(program for program in PROGRAMS if program.id == name)
    space = control.exhaust(program, 3, reduce=False, statements=program.statements, most=3_000)
    assert not space.results & set(NOT_UNDER_CONTROL[name]), "it is seen now: take it off the list"


@pytest.mark.parametrize("name", sorted(NEVER_REAL))
def test_what_real_threads_never_show_is_still_seen(control, name):
    program = next(program for program in PROGRAMS if program.id == name)
    space = control.exhaust(program, 2, reduce=False, statements=program.statements, most=3_000)
    assert set(NEVER_REAL[name]) <= space.results, "it is gone: take it off the list"
