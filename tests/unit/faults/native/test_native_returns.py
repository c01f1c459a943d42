"""The return of a call that is inside native code is a choice: both orders are seen, replayed, and needed."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
from cell_cases import confirmed, kinds, of, oracle

from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.strategies.pct import Pct
from harness.engine.strategies.random_walk import RandomWalk
from harness.execution.cell import CellRun
from harness.scenario import scenario
from harness.verdict import Verdict
from scenarios.catalogue import load

pytestmark = [pytest.mark.runtime, pytest.mark.usefixtures("engine")]

CANCEL, CLOSE, EXPIRY = "held-cancel-races-return", "held-close-races-return", "held-expiry-races-return"
RIVAL = {CANCEL: "cancel-begin", CLOSE: "service-close-begin"}
"""What races with the return."""
SERVICES = (("queue", 1), ("pool", 2))


@scenario(exercises=("own-output",), tasks=2, native="held", arms=("native-slow",))
def one_slow_of_two(script):
    service = script.open_service()
    script.arm("native-slow")
    tasks = [service.submit(script.task()) for _ in range(2)]
    for task in tasks:
        task.result()
    service.close()


def executions(bench, reference, strategy, count, **options):
    """So many executions of a scenario; fewer where a search is through."""
    loaded = load(reference) if isinstance(reference, str) else reference
    made = CellRun(bench.cell(loaded, **options), loaded, *oracle(bench.target.adapter))
    try:
        for number in range(count):
            execution = made.laboratory.execute(strategy, number)
            if execution is None:
                return
            yield execution
    finally:
        made.laboratory.close()


def first_of(execution, *sought):
    return next((event.kind for event in execution.history.events if event.kind in sought), "")


@pytest.mark.parametrize("reference", RIVAL)
@pytest.mark.parametrize("strategy", [partial(RandomWalk, 3), partial(Pct, 3), partial(Exhaustive, 1)])
def test_a_call_returns_before_and_after_what_races_with_it(bench, reference, strategy):
    seen = set()
    for execution in executions(bench, reference, strategy(), 150):
        if of(execution, "in-native") and of(execution, "invoke-end"):
            assert not execution.findings
            seen.add(first_of(execution, RIVAL[reference], "invoke-end"))
        if len(seen) == 2:
            return
    pytest.fail(f"only {seen} came first")


def what_each_thread_did(execution, rival):
    """And who was first: the same for histories in which events that do not touch each other changed places."""
    did = {"first": [first_of(execution, rival, "invoke-end", "service-close-end")]}
    for event in execution.history.events:
        said = tuple(event.attrs.get(name) for name in ("answer", "outcome", "output", "error", "checked"))
        did.setdefault(event.thread, []).append((event.kind, event.task, event.session, said))
    return frozenset((thread, tuple(events)) for thread, events in did.items())


@pytest.mark.parametrize("reference", RIVAL)
def test_the_reduction_leaves_nothing_out(bench, reference):
    reduced, whole = (
        {
            what_each_thread_did(each, RIVAL[reference])
            for each in executions(bench, reference, Exhaustive(1, reduce=reduce), 1_000)
        }
        for reduce in (True, False)
    )
    assert whole <= reduced, "what was given up at an equal state is in the other as far as it went"
    assert len(whole) > 1


def test_without_a_preemption_it_returns_when_nobody_else_can_go(bench):
    (execution,) = executions(bench, one_slow_of_two, Exhaustive(0, reduce=False), 1)
    (begin,), (end,) = of(execution, "held"), of(execution, "unheld")
    assert end.at_ns - begin.at_ns == pytest.approx(5e9, rel=0.01), "virtual time, all of it"
    assert kinds(execution)["gate-opened"] == 0, "nobody was at rest"
    assert len(of(execution, "deliver", output="match")) == 2
    assert not execution.findings


def test_chosen_at_once_it_returns_before_anybody_moves(bench):
    class AtOnce(RandomWalk):
        def choose(self, by, ready, timer):
            return timer if timer is not None and timer is by else super().choose(by, ready, timer)

    (execution,) = executions(bench, one_slow_of_two, AtOnce(1), 1)
    events = execution.history.events
    assert ("in-native", "unheld") in {(one.kind, other.kind) for one, other in pairwise(events)}
    assert len(of(execution, "deliver", output="match")) == 2
    assert not execution.findings


@pytest.mark.parametrize(("service", "slots"), SERVICES)
@pytest.mark.parametrize("reference", [CANCEL, CLOSE, EXPIRY])
def test_our_services_stand_it_and_both_premises_occur(bench, reference, service, slots):
    result = bench.run(load(reference), service=service, slots=slots, executions=60)
    assert result.verdict is Verdict.PASS, result.reason
    assert {finding.kind for finding in result.findings} == {"native-library"}
    assert result.native == "held"
    assert "own-output" in {tally.id for tally in result.invariants if tally.checked}, "the return was never first"


@pytest.mark.parametrize("reference", [CANCEL, CLOSE, EXPIRY])
def test_a_token_replays_the_return_twenty_times_of_twenty(bench, reference):
    execution, report = bench.replayed(load(reference), 20)
    assert set(report.digests) == {execution.history.digest()}
    assert len(report.digests) == 20
    assert not report.divergence


@pytest.mark.parametrize(
    ("name", "invariant", "reference", "at_rest"),
    [
        (
            "no_delivery_after_cancel/running_cancel_checks_then_acts",
            "no-delivery-after-cancel",
            CANCEL,
            "held-cancel-inside-native-code",
        ),
        ("no_deadlock/close_misses_the_return", "no-deadlock", CLOSE, "held-close-inside-native-code"),
    ],
)
def test_what_is_wrong_at_the_return_is_caught_where_it_is_chosen_alone(
    bench, specimens, name, invariant, reference, at_rest
):
    wrong, right = (f"{specimens / name}.py:{which}" for which in ("specimen", "twin"))
    result = bench.run(load(reference), service=wrong, executions=200)
    assert result.verdict is Verdict.FAIL, result.reason
    assert invariant in confirmed(result)
    assert bench.run(load(at_rest), service=wrong, executions=40).verdict is not Verdict.FAIL
    twin = bench.run(load(reference), service=right, executions=60)
    assert twin.verdict is Verdict.PASS, twin.reason
