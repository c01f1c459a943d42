"""What a plan waits for, and what it goes on striking."""

from __future__ import annotations

import pytest

from harness.faults.plan import Arming, FaultPlan, Site, check_arming


def site(point="invoke", session="s1", task="t1", *, fallback=False, own=False, follows=True, sessions=("s1", "s2")):
    return Site(
        point=point,
        session=session,
        task=task,
        fallback=fallback,
        own=own,
        follows=follows,
        open_sessions=lambda: sessions,
    )


def plan(*armings):
    made = FaultPlan()
    for arming in armings:
        made.arm(arming)
    return made


def struck(made, *sites):
    return [strike and strike.fault.name for strike in map(made.at, sites)]


def test_the_nth_call_that_counts_is_struck_once():
    made = plan(Arming(name="run-failure", nth=2, session="s2"))
    sites = [site(session=session) for session in ("s2", "s1", "s2", "s2")]
    assert struck(made, *sites) == [None, None, "run-failure", None]
    assert made.injected == {"run-failure": 1}


def test_a_task_is_struck_wherever_it_runs():
    made = plan(Arming(name="run-failure", task="t2"))
    assert struck(made, site(), site(task="t2", session="s9"), site(task="t2")) == [None, "run-failure", None]


def test_a_persistent_one_strikes_from_then_on():
    made = plan(Arming(name="run-failure", nth=2, persistent=True))
    assert struck(made, site(), site(), site(task=None)) == [None, "run-failure", "run-failure"]


def test_of_two_that_wait_the_first_strikes_and_the_other_goes_on_waiting():
    made = plan(Arming(name="run-failure"), Arming(name="slow-run"))
    assert struck(made, site(), site(), site()) == ["run-failure", "slow-run", None]


def test_poison_follows_its_task_at_its_point():
    made = plan(Arming(name="poison-request", nth=2))
    sites = [site(), site(task="t2"), site(), site("bind", task="t2"), site(task="t2", session="s2")]
    assert struck(made, *sites) == [None, "poison-request", None, None, "poison-request"]


def test_a_lost_context_is_lost_for_each_step_on_that_session_alone():
    made = plan(Arming(name="context-lost"))
    sites = [site(), site("bind"), site("fetch", task=None, own=True), site("session-close"), site(session="s2")]
    assert struck(made, *sites) == ["context-lost"] * 3 + [None, None]


def test_a_reset_device_is_lost_for_the_sessions_that_were_open():
    made = plan(Arming(name="device-reset"))
    assert struck(made, site(), site(session="s2"), site(session="s3")) == ["device-reset", "device-reset", None]
    assert [made.at(site()).again, plan(Arming(name="device-reset")).at(site()).again] == [True, False]


def test_a_run_of_the_service_s_own_and_the_fallback_are_spared():
    assert struck(plan(Arming(name="run-failure")), site(task=None, own=True)) == [None]
    opening = site("session-open", task=None, fallback=True)
    assert struck(plan(Arming(name="delegate-init-failure")), opening) == [None]
    assert struck(plan(Arming(name="session-open-failure")), opening) == ["session-open-failure"]


def test_a_draw_is_the_same_for_the_same_seed_and_hits_about_as_often_as_it_says():
    def draws(seed):
        made = plan(Arming(name="run-failure", persistent=True, probability=0.3, seed=seed))
        return struck(made, *[site()] * 1000)

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    assert 250 < sum(map(bool, draws(1))) < 350


def test_a_draw_of_one_strike_hits_once():
    made = plan(Arming(name="run-failure", probability=0.3, seed=1))
    assert sum(map(bool, struck(made, *[site()] * 100))) == 1


@pytest.mark.parametrize(
    ("arming", "text"),
    [
        (Arming(name="run-faliure"), "no fault 'run-faliure': `racegate list faults` names them"),
        (Arming(name="run-failure", point="run"), "no point 'run': there are session-open, bind, invoke, fetch"),
        (Arming(name="nan-output", point="bind"), "nan-output changes what a fetch returns, nothing else"),
        (Arming(name="run-failure", nth=0), "nth counts from 1"),
        (Arming(name="run-failure", probability=0.0), "a probability must be above 0 and at most 1"),
        (Arming(name="close-failure", task="t1"), "a session-close belongs to no task"),
    ],
)
def test_what_can_strike_nothing_is_refused(arming, text):
    with pytest.raises(ValueError, match=text):
        check_arming(arming)


def test_nothing_is_remembered_unless_a_fault_needs_it():
    assert not plan(Arming(name="run-failure")).remembers
    assert plan(Arming(name="stale-output")).remembers
