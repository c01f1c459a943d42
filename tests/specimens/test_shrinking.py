"""What a person gets to read of the textbook mistakes is short: few steps, and at most two preemptions."""

from __future__ import annotations

import pytest

from harness.engine.kernel import Kernel
from harness.engine.scheduler import QUIET_UNTIL_REST
from harness.engine.strategies.portfolio import make_strategy
from harness.execution import cell as cell_module
from harness.execution import controlled
from harness.execution.shrink import MOST_EXECUTIONS, REST_SOON, shrink
from harness.invariants.catalogue import check_all
from harness.schedule import parse_token

TEXTBOOK = {
    "close_once/close_checks_then_acts": 8,
    "close_once/released_by_worker_and_closer": 2,
    "close_once/second_close_returns_early": 5,
    "closed_rejects/closed_flag_of_one_thread": 7,
    "input_frozen/kept_by_reference": 5,
    "no_deadlock/put_into_a_full_queue_under_the_lock": 10,
    "one_task_per_session/new_lock_for_every_call": 7,
    "one_task_per_session/session_put_back_twice": 9,
    "one_task_per_session/time_out_frees_the_slot": 6,
    "one_task_per_session/two_workers_one_session": 13,
    "output_owned/view_of_an_arena": 6,
    "own_output/answers_matched_by_order": 10,
    "own_output/late_binding_closure": 8,
    "own_output/one_output_buffer_for_all": 10,
    "own_output/result_set_before_the_copy": 6,
    "own_output/slot_returned_before_the_fetch": 7,
    "release_after_drain/cancel_releases_the_session": 5,
    "terminal_once/event_cleared_after_the_work": 5,
    "terminal_once/if_where_while_is_needed": 7,
    "terminal_once/notified_before_the_put": 5,
    "terminal_once/open_flag_read_without_the_lock": 6,
    "terminal_once/sentinel_overtakes_the_tasks": 7,
    "terminal_once/waiting_tasks_dropped_at_close": 6,
}
"""How many steps of the scenario, at most, are left to show each; `many-clients` has 13 of them."""
PREEMPTIONS = 2
EXECUTIONS = 500


@pytest.mark.parametrize("name", TEXTBOOK)
def test_a_textbook_mistake_is_shown_in_few_steps_and_two_preemptions(name, specimens, bench, monkeypatch):
    specimen = next(specimen for specimen in specimens if specimen.name == name)
    seen = {}

    def watched(laboratory, schedule, failing, invariant):
        seen[invariant] = shrunk = shrink(laboratory, schedule, failing, invariant)
        return shrunk

    monkeypatch.setattr(cell_module, "shrink", watched)
    for executions in (40, EXECUTIONS):
        if not seen:
            result = bench.run(bench.cell(specimen, "specimen", specimen.scenarios[0], executions))
    assert result.failures
    for shrunk in seen.values():
        assert shrunk.size.preemptions <= PREEMPTIONS
        assert shrunk.size.steps <= TEXTBOOK[name], shrunk.execution.made
        assert shrunk.tried <= MOST_EXECUTIONS + 1
    for invariant, shrunk in seen.items():
        assert check_all(shrunk.execution.history)[invariant].violations
    tokens = [parse_token(failure.token) for failure in result.failures]
    assert {schedule.left_out for schedule in tokens} == {shrunk.execution.left_out for shrunk in seen.values()}
    assert {schedule.choices for schedule in tokens} == {shrunk.execution.choices for shrunk in seen.values()}


def test_candidates_with_threads_that_run_for_ever_are_given_up_soon(specimens, bench, monkeypatch):
    """The shrunk failure is still one that ran for as long as it takes to say so."""
    specimen = next(specimen for specimen in specimens if specimen.name == "no_deadlock/polls_a_flag_that_nobody_sets")
    kernels = []

    def counted(*arguments):
        kernels.append(Kernel(*arguments))
        return kernels[-1]

    monkeypatch.setattr(controlled, "Kernel", counted)
    result = bench.run(bench.cell(specimen, "specimen", specimen.scenarios[0], 1))
    assert any(violation.message.startswith("livelock") for each in result.failures for violation in each.violations)
    soon = [kernel for kernel in kernels if REST_SOON <= kernel.steps < QUIET_UNTIL_REST]
    assert soon
    assert len(kernels) - len(soon) <= 6


def test_what_stays_hard_to_follow_may_do_more_harm_when_it_is_shrunk(specimens, bench):
    """Two runs at once that do not mix up their outputs take more preemptions than two that do."""
    specimen = next(specimen for specimen in specimens if specimen.name == "own_output/slot_returned_before_the_fetch")
    run = bench.prepared(bench.cell(specimen, "specimen", specimen.scenarios[0], EXECUTIONS))
    invariant, more = "one-task-per-session", []
    for seed in range(7, 12):
        strategy = make_strategy("random", seed)
        executions = (run.laboratory.execute(strategy, number) for number in range(40))
        failing = next(each for each in executions if broken(each).get(invariant))
        shrunk = shrink(run.laboratory, run.schedule(failing), failing, invariant)
        assert invariant in broken(shrunk.execution)
        if broken(shrunk.execution).keys() > broken(failing).keys():
            more.append(shrunk.size)
    run.laboratory.close()
    assert more
    assert all(size.preemptions <= PREEMPTIONS for size in more)


def broken(execution):
    judged = check_all(execution.history)
    return {name: judgement.violations for name, judgement in judged.items() if judgement.violations}
