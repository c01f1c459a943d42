import random
import threading
import time
from concurrent.futures import Future

import pytest
from service_fakes import GUARD, task, value_of
from under_control import instrumented, swap

from harness.service import freshness
from harness.service.config import ServiceConfig
from harness.service.freshness import FreshSubscriber, VersionedResult
from harness.service.queue import SerialQueue


def result(context, model=1, module=freshness, outputs=None):
    return module.VersionedResult(task_id=f"n{context}", context_version=context, model_version=model, outputs=outputs)


def subscriber(**more):
    applied = []
    return FreshSubscriber(lambda each: applied.append((each.context_version, each.model_version)), **more), applied


def test_the_newest_context_wins_and_nothing_goes_back():
    made, applied = subscriber()
    assert [made.offer(result(context)) for context in (1, 3, 2, 3, 4)] == [
        "applied", "applied", "older-context", "older-context", "applied",
    ]  # fmt: skip
    assert applied == [(1, 1), (3, 1), (4, 1)]
    assert made.counters() == {
        "applied": 3, "older-context": 2, "older-model": 0, "superseded": 0, "without-result": 0, "errors": 0,
    }  # fmt: skip


def test_a_result_of_an_older_model_is_not_applied_after_a_switch():
    made, applied = subscriber()
    made.offer(result(1, model=1))
    made.switched_to(2)
    made.switched_to(1)
    assert made.offer(result(2, model=1)) == "older-model"
    assert made.offer(result(2, model=2)) == "applied"
    assert made.offer(result(3, model=3)) == "applied"
    assert made.offer(result(4, model=2)) == "older-model", "a newer model's result says that there was a switch"
    assert applied == [(1, 1), (2, 2), (3, 3)]


def test_models_with_names_have_no_order_and_the_switch_says_which_is_current():
    made, applied = subscriber()
    made.offer(result(1, model="large"))
    assert made.offer(result(2, model="small")) == "older-model", "nobody said that there was a switch"
    made.switched_to("small")
    assert made.offer(result(3, model="large")) == "older-model"
    assert made.offer(result(3, model="small")) == "applied"
    made.switched_to("large")
    assert made.offer(result(3, model="large")) == "applied", "back to the first one is a switch as well"
    assert made.offer(result(4, model=None)) == "older-model"
    assert applied == [(1, "large"), (3, "small"), (3, "large")]


def test_without_model_versions_the_context_decides():
    made, applied = subscriber()
    assert [made.offer(result(each, model=None)) for each in (2, 1, 2, 3)] == [
        "applied", "older-context", "older-context", "applied",
    ]  # fmt: skip
    assert applied == [(2, None), (3, None)]


def test_the_same_context_is_applied_again_by_a_newer_model_only():
    made, applied = subscriber()
    for model in (1, 1, 2, 2):
        made.offer(result(5, model=model))
    assert made.offer(result(4, model=9)) == "older-context", "never back, not even for a better model"
    assert applied == [(5, 1), (5, 2)]


def test_what_the_user_no_longer_asks_for_is_not_applied_though_nothing_newer_came():
    made, applied = subscriber()
    made.expect(7)
    made.expect(3)
    assert made.offer(result(6)) == "older-context"
    assert made.offer(result(7)) == "applied"
    assert applied == [(7, 1)]


def test_only_the_newest_waits_while_one_is_applied():
    entered, go = threading.Event(), threading.Event()
    applied = []

    def apply(each):
        applied.append(each.context_version)
        if each.context_version == 1:
            entered.set()
            assert go.wait(GUARD)

    made = FreshSubscriber(apply)
    thread = threading.Thread(target=made.offer, args=(result(1),))
    thread.start()
    assert entered.wait(GUARD)
    assert [made.offer(result(context)) for context in (2, 4, 3)] == ["handed-over", "handed-over", "older-context"]
    go.set()
    thread.join(GUARD)
    assert applied == [1, 4]
    assert made.counters()["superseded"] == 1


@pytest.mark.parametrize(("change", "stale"), [("switched_to", "older-model"), ("expect", "older-context")])
def test_a_switch_returns_when_nothing_older_is_being_applied_and_none_will_be(change, stale):
    entered, go = threading.Event(), threading.Event()
    applied = []

    def apply(each):
        entered.set()
        assert go.wait(GUARD)
        applied.append(each.context_version)

    made = FreshSubscriber(apply)
    offering = threading.Thread(target=made.offer, args=(result(1),))
    offering.start()
    assert entered.wait(GUARD)
    assert made.offer(result(2)) == "handed-over"
    seen = []
    switching = threading.Thread(target=lambda: (getattr(made, change)(3), seen.append(list(applied))))
    switching.start()
    switching.join(0.05)
    assert switching.is_alive()
    go.set()
    switching.join(GUARD)
    offering.join(GUARD)
    assert seen == [[1]]
    assert applied == [1], "what was handed over is stale by now"
    assert made.counters()[stale] == 1


def test_a_callback_may_offer_and_switch():
    applied = []

    def apply(each):
        applied.append(each.context_version)
        if each.context_version < 3:
            assert made.offer(result(each.context_version + 1)) == "handed-over"
            made.switched_to(1)

    made = FreshSubscriber(apply)
    made.offer(result(1))
    assert applied == [1, 2, 3]


def test_a_callback_that_raises_is_counted_and_harms_nothing(caplog):
    applied = []

    def apply(each):
        applied.append(each.context_version)
        if each.context_version == 1:
            raise ValueError("private")

    made = FreshSubscriber(apply)
    assert [made.offer(result(context)) for context in (1, 2)] == ["applied", "applied"]
    assert (applied, made.counters()["errors"]) == ([1, 2], 1)
    assert "ValueError" in caplog.text
    assert "private" not in caplog.text


def test_an_exit_in_a_callback_leaves_the_subscriber_usable():
    applied = []

    def apply(each):
        if each.context_version == 1:
            raise SystemExit
        applied.append(each.context_version)

    made = FreshSubscriber(apply)
    with pytest.raises(SystemExit):
        made.offer(result(1))
    assert made.offer(result(2)) == "applied"
    assert applied == [2]


def test_it_follows_futures_of_a_service(runtime):
    applied = []
    made = FreshSubscriber(lambda each: applied.append((each.context_version, value_of(each.outputs))))
    runtime.run_errors = {2.0: ValueError("failed")}
    with SerialQueue(runtime.open, ServiceConfig(capacity=8)) as queue:
        for context in range(1, 4):
            made.follow(queue.submit(task(context)), context=context)
    assert applied == [(1, 2.0), (3, 6.0)]
    assert made.counters()["without-result"] == 1


def test_versions_on_the_future_win_over_those_given():
    seen = []
    made = FreshSubscriber(seen.append)
    future = Future()
    future.task_id, future.context, future.model_version = "n9", 5, 2
    made.follow(future, context=1, model_version=1)
    future.set_result("out")
    assert seen == [VersionedResult(task_id="n9", context_version=5, model_version=2, outputs="out")]
    cancelled = Future()
    made.follow(cancelled)
    cancelled.cancel()
    assert made.counters()["without-result"] == 1


def test_under_stress_contexts_only_grow():
    applied = []

    def apply(each):
        applied.append(each.context_version)
        time.sleep(0)

    made = FreshSubscriber(apply)

    def offer(seed):
        contexts = list(range(400))
        chance = random.Random(seed)
        for start in range(0, 400, 20):
            some = contexts[start : start + 20]
            chance.shuffle(some)
            for context in some:
                made.offer(result(context))

    threads = [threading.Thread(target=offer, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(GUARD)
    assert applied == sorted(set(applied))
    assert applied[-1] == 399
    counts = made.counters()
    assert counts["applied"] == len(applied)
    assert sum(counts.values()) == 6 * 400


# -- under control -----------------------------------------------------------------------------------------------------


class Unlocked:
    """WRONG: looks at the last context and applies without a lock."""

    def __init__(self, apply):
        self.apply, self.last = apply, 0

    def offer(self, each):
        if each.context_version > self.last:
            time.sleep(0)  # a point, as between any two statements
            self.last = each.context_version
            self.apply(each)


class LateApply:
    """WRONG: decides under the lock and applies after it, each thread for itself."""

    def __init__(self, apply):
        self.apply, self.last, self.lock = apply, 0, threading.Lock()

    def offer(self, each):
        with self.lock:
            if each.context_version <= self.last:
                return
            self.last = each.context_version
        self.apply(each)


def three_offers(make):
    def program():
        applied = []
        made = make(lambda each: (time.sleep(0), applied.append(each.context_version)))
        threads = [threading.Thread(target=made.offer, args=(result(context),)) for context in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return tuple(applied)

    return program


@pytest.mark.parametrize("wrong", [Unlocked, LateApply])
def test_a_wrong_subscriber_applies_a_stale_result(search, wrong):
    found = search.results(three_offers(wrong), 300)
    assert any(applied != tuple(sorted(applied)) for applied in found)


def test_ours_never_applies_a_stale_result_in_2000_executions(search):
    found = search.results(three_offers(instrumented("freshness").FreshSubscriber), 2_000)
    assert set(found) == {(3,), (1, 3), (2, 3), (1, 2, 3)}


def switch_program(module):
    def program():
        log = []
        made = module.FreshSubscriber(lambda each: (time.sleep(0), log.append(each.model_version), time.sleep(0)))
        threads = [
            threading.Thread(target=made.offer, args=(result(context, model, module),))
            for context, model in ((1, 1), (2, 1), (3, 2))
        ]
        for thread in threads:
            thread.start()
        made.switched_to(2)
        log.append("switched")
        for thread in threads:
            thread.join()
        return tuple(log)

    return program


NO_WAIT = swap(("        self._idle.wait_for(self._applies_nothing_stale)\n", "        pass\n"))


def after_switch(log):
    return set(log[log.index("switched") + 1 :])


def test_a_subscriber_whose_switch_does_not_wait_applies_an_old_model_after_it(search):
    found = search.results(switch_program(instrumented("freshness", NO_WAIT)), 600)
    assert any(1 in after_switch(log) for log in found)


def test_ours_never_applies_an_old_model_after_the_switch_in_2000_executions(search):
    found = search.results(switch_program(instrumented("freshness")), 2_000)
    assert not any(1 in after_switch(log) for log in found)
    assert any(log[0] == 1 for log in found), "before the switch it was applied"
    assert all(2 in log for log in found)
