"""A script of which steps are left out: what is made, what a token carries, and what shrinking makes of it."""

from __future__ import annotations

import pytest

from harness.engine.strategies.portfolio import make_strategy
from harness.engine.strategies.scripted import Scripted
from harness.engine.strategies.segments import Segments, segments_of
from harness.execution.cell import CellRun, run_cell
from harness.execution.replay import replay
from harness.execution.shrink import _Counting, _Shrinker, shrink
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.scenario import scenario
from harness.schedule import Schedule, TokenError, parse_token
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from scenarios.catalogue import load

TARGET = TargetSpec("numpy", "numpy")
SCRIPT = 0


@scenario(exercises=("own-output",), tasks=4)
def three_clients(script):
    service = script.open_service()
    handles = []
    for number in range(3):
        task = script.task()
        script.actor(f"client-{number + 1}", lambda task=task: handles.append(service.submit(task)))
    script.join()
    last = service.submit(script.task())
    last.overwrite_input()
    last.cancel()
    last.result()
    script.expect(len(handles) == 3, "capacity", "three clients submitted")
    service.close()


pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def prepare():
    runs = []

    def make(script, service="queue", **budget):
        model = resolve(TARGET.model, load_adapter("numpy").suffixes)
        cell = Cell(
            script.id,
            TARGET,
            ServiceSpec(service, slots=1 if service == "queue" else 2),
            model.digest,
            Budget(**budget),
            seed=3,
        )
        runs.append(CellRun(cell, script, model, compute(TARGET, model, 1, 16)))
        return runs[-1]

    yield make
    for run in runs:
        run.laboratory.close()


def seen(execution, kind):
    return [event.task for event in execution.history.events if event.kind == kind]


def test_a_token_carries_what_is_left_out():
    schedule = Schedule("0" * 12, "1" * 8, ((-1, 1, 2), (3, 40, 1)), ((0, 3), (2, 36)))
    assert schedule.token() == "rg1.000000000000.11111111.0-3_2-10_0-1-2_4-14-1"
    assert parse_token(schedule.token()) == schedule
    only = Schedule("0" * 12, "1" * 8, (), ((1, 0),))
    assert parse_token(only.token()) == only


@pytest.mark.parametrize("part", ["1", "1-2-3-4", "", "1-!"])
def test_a_damaged_part_is_named(part):
    with pytest.raises(TokenError, match="copy it whole"):
        parse_token(f"rg1.000000000000.11111111.0-3_{part}")


def test_an_actor_that_is_left_out_does_nothing_and_the_others_keep_their_numbers(prepare):
    run = prepare(three_clients)
    whole = run.laboratory.execute(Scripted(), 0)
    reduced = run.laboratory.execute(Scripted(), 0, leave_out=[(SCRIPT, 1)])
    assert sorted(seen(whole, "submit-begin")) == ["t1", "t2", "t3", "t4"]
    assert sorted(seen(reduced, "submit-begin")) == ["t1", "t3", "t4"]
    assert not [event for event in reduced.history.events if event.thread == "client-2"]
    assert reduced.threads == whole.threads
    assert reduced.left_out == ((SCRIPT, 1),)
    assert len(reduced.made) == len(whole.made) - 2


def test_a_submit_that_is_left_out_takes_what_is_done_with_its_task_along(prepare):
    run = prepare(three_clients)
    reduced = run.laboratory.execute(Scripted(), 0, leave_out=[(SCRIPT, 3)])
    assert not {"input-overwritten", "cancel-begin", "wait-begin"} & {event.kind for event in reduced.history.events}
    assert [step.kind for step in reduced.made if step.actor == SCRIPT] == ["actor", "actor", "actor", "close"]


def test_the_close_that_every_script_ends_with_is_always_made(prepare):
    run = prepare(three_clients)
    reduced = run.laboratory.execute(Scripted(), 0, leave_out=[(SCRIPT, number) for number in range(20)])
    assert [event.thread for event in reduced.history.events if event.kind == "service-close-end"] == ["script"]
    assert [step.kind for step in reduced.made] == ["end"]


def test_what_the_script_expects_of_the_whole_is_not_judged_of_a_part(prepare):
    run = prepare(three_clients)
    assert [event for event in run.laboratory.execute(Scripted(), 0).history.events if event.kind == "expectation"]
    reduced = run.laboratory.execute(Scripted(), 0, leave_out=[(SCRIPT, 0)])
    assert not [event for event in reduced.history.events if event.kind == "expectation"]


def test_a_failure_keeps_what_is_wrong_and_its_token_replays_it():
    model = resolve(TARGET.model, load_adapter("numpy").suffixes)
    expectations = compute(TARGET, model, 1, 16)
    cell = Cell("many-clients", TARGET, ServiceSpec("unsafe-shared", slots=2), model.digest, Budget(80), seed=3)
    result = run_cell(cell, load("many-clients"), model, expectations, lambda _: None)
    failure = result.failures[0]
    assert failure.violations[0].invariant == "own-output"
    schedule = parse_token(failure.token)
    assert schedule.left_out, "two clients are enough"
    assert len({event.task for event in failure.events if event.kind == "submit-begin"}) == 2
    report = replay(cell, load("many-clients"), model, expectations, schedule, 3, lambda _: None)
    assert set(report.digests) == {failure.history_digest}
    assert report.failure is not None
    assert report.failure.token == failure.token


@scenario(exercises=("own-output",), tasks=4)
def needs_them_all(script):
    """Two of the clients have nothing to do with what goes wrong, but the script breaks without them."""
    service = script.open_service()
    handles = {}
    for number in range(4):
        task = script.task()
        script.actor(
            f"client-{number}", lambda task=task, number=number: handles.update({number: service.submit(task)})
        )
    script.join()
    for number in range(4):
        handles[number].result()


def failing(run, invariant):
    strategy = make_strategy("portfolio", 3)
    for number in range(200):
        execution = run.laboratory.execute(strategy, number)
        shrinker = _wrong(run, execution, invariant)
        if shrinker is not None:
            return execution
    pytest.fail(f"nothing broke {invariant}")


def _wrong(run, execution, invariant):
    try:
        return _Shrinker(run.laboratory, run.schedule(execution), execution, invariant)
    except KeyError:
        return None


def test_a_script_that_dies_without_its_steps_keeps_them(prepare):
    run = prepare(needs_them_all, "unsafe-shared")
    execution = failing(run, "own-output")
    shrunk = shrink(run.laboratory, run.schedule(execution), execution, "own-output")
    assert not [finding for finding in shrunk.execution.findings if finding.kind == "scenario-raised"]
    assert [step.kind for step in shrunk.execution.made].count("actor") == 4


def test_another_kind_of_violation_is_not_taken_for_the_same(prepare):
    run = prepare(three_clients, "unsafe-shared")
    execution = failing(run, "owner-thread")
    shrinker = _wrong(run, execution, "owner-thread")
    assert shrinker is not None
    assert shrinker._same(execution)
    shrinker._wrong = "something else"
    assert not shrinker._same(execution)


def test_the_segments_of_an_execution_make_it_again(prepare):
    run = prepare(load("many-clients"), "pool")
    strategy = make_strategy("random", 5)
    for number in range(10):
        counting = _Counting(strategy)
        execution = run.laboratory.execute(counting, number)
        segments = segments_of(execution.decisions, set(counting.stops))
        again = run.laboratory.execute(Segments(segments), 0)
        assert again.choices == execution.choices
        assert again.history.digest() == execution.history.digest()
        assert counting.preemptions > 0
