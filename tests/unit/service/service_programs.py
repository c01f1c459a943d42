"""See `controlled_programs`: what runs under the engine. Each returns `fine ...` or what went wrong."""

import contextlib
import threading
from concurrent.futures import CancelledError
from time import monotonic, sleep

import numpy as np

from adapters.base import (
    Contract,
    Counters,
    DelegateTruth,
    Grain,
    Identity,
    ModelLoadError,
    RunInterruptedError,
    Session,
)
from harness.engine.threads import current
from harness.service.config import Opening, ServiceConfig
from harness.service.errors import (
    DeadlineExpiredError,
    QueueFullError,
    ReplacedError,
    RunBudgetError,
    ServiceClosedError,
    ServiceUnhealthyError,
    SwitchError,
)
from harness.service.lifecycle import CloseReason
from harness.service.observer import NullObserver
from harness.service.pool import SessionPool
from harness.service.requests import Ordering, OverflowPolicy, RequestClass


class TimedSession(Session):
    """Takes as long as its input says, in virtual time; ends early when interrupted; breaks on a negative input."""

    contract = Contract(inputs=(), outputs=())
    identity = Identity(runtime="fake", version="0", build="", artifacts={})
    delegate = DelegateTruth(requested="cpu", actual="cpu", graph_nodes=1, placement=(), evidence="fake")

    def __init__(self, lab):
        self.lab = lab
        self.number = len(lab.sessions)
        self.interrupt_grain = lab.grain
        self.owner = threading.current_thread()
        self.inside = None
        self.stopped = threading.Event()
        self.closed = False
        lab.sessions.append(self)

    def call(self, inputs):
        raise NotImplementedError

    def run(self, inputs):
        value, seconds = (float(each) for each in inputs["x"])
        lab = self.lab
        lab.check(threading.current_thread() is self.owner, "a session left its thread")
        lab.check(self.inside is None and not self.closed, "a session was used twice or after close")
        self.stopped.clear()
        self.inside = value
        lab.started.append((value, monotonic()))
        observed()
        interrupted = self.stopped.wait(seconds) if seconds else False
        self.inside = None
        if interrupted:
            raise RunInterruptedError("interrupted")
        if value < 0:
            raise RuntimeError("broken")
        return {"y": np.array([value * 2])}

    def interrupt(self):
        self.lab.interrupted.append(self.inside)
        self.stopped.set()

    def counters(self):
        return Counters()

    def close(self):
        self.lab.check(self.inside is None and not self.closed, "a session was released twice or under a call")
        self.closed = True


class Lab(NullObserver):
    """Opens sessions, hears the service, and collects breaches."""

    def __init__(self, capacity=4, **config):
        self.grain = config.pop("grain", Grain.NONE)
        self.open_seconds = config.pop("open_seconds", 0)
        self.sessions, self.started, self.interrupted, self.breaches = [], [], [], []
        self.told, self.slots, self.states, self.healths = [], [], [], []
        self.opens = 0
        self.accepted = {}
        self.well = threading.Event()
        self.well.set()
        self.capacity, self.config = capacity, config

    def make(self):
        self.service = SessionPool(self.open, ServiceConfig(capacity=self.capacity, observer=self, **self.config))
        return self.service

    def open(self, *, fallback=False):  # noqa: ARG002 - an opener's signature
        self.opens += 1
        if self.open_seconds:
            sleep(self.open_seconds)
        return TimedSession(self)

    def check(self, held, says):
        if not held:
            self.breaches.append(says)

    def ended(self, future, how):
        self.told.append((future.task_id, how))

    def slot(self, slot, state):
        observed()
        self.slots.append((slot, state))

    def state(self, name):
        self.states.append(name)

    def health(self, name):
        self.healths.append(name)
        self.well.set() if name == "healthy" else self.well.clear()

    def agree(self, future, answers=()):
        """The outcome, after checking that it is one, that waits agree with it and that cancel() said the truth."""
        self.check(future.done(), f"{future.task_id} never ended")
        if not future.done():
            return "PENDING"
        kind = outcome(future)
        for answer in answers:
            self.check(answer == (kind == "CANCELLED"), f"cancel said {answer} of a task that is {kind}")
        self.check((future.cancel_kind is not None) == (kind == "CANCELLED"), "cancel_kind and outcome differ")
        self.check((future.expired_kind is not None) == (kind == "EXPIRED"), "expired_kind and outcome differ")
        self.check(future.run is None and future.timer is None, "an ended task holds its run")
        return kind

    def on_time(self, value, future):
        """A run may begin late, as time may pass between a look at the clock and the run; no result comes late."""
        late = [at for started, at in self.started if started == value and at >= future.due]
        self.check(not late or outcome(future) != "SUCCEEDED", f"{value} started after its deadline and was delivered")

    def answer(self, *facts):
        self.check(self.service.counters().waiting == 0, "places are left taken")
        self.check(all(session.closed for session in self.sessions), "a session was left open")
        self.check(self.states == ["accepting", "draining", "closed"], f"states {self.states}")
        return "; ".join(sorted(set(self.breaches))) or " ".join(["fine", *map(str, facts)])


def observed():
    """Tell the engine that something was seen: without that, an execution so long counts as spinning."""
    me = current()
    if me is not None:
        me.kernel.observed()


def task(value, seconds=0.0):
    return {"x": np.array([value, seconds], dtype=np.float64)}


def outcome(future):
    try:
        future.result(0)
    except CancelledError:
        return "CANCELLED"
    except (DeadlineExpiredError, ReplacedError) as error:
        return error.outcome
    except RunBudgetError:
        return "OVER BUDGET"
    except TimeoutError:
        return "PENDING"
    except Exception as error:  # noqa: BLE001 - how it failed is the answer
        return type(error).__name__
    return "SUCCEEDED"


def together(*bodies):
    threads = [threading.Thread(target=body, daemon=False) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def cancel_expiry_completion():
    """A task is done, is due and is cancelled at the same moment."""
    lab = Lab(grain=Grain.NODE)
    service = lab.make()
    called, answers = [], []
    future = service.submit(task(1, 0.010), deadline=0.010)
    future.add_done_callback(lambda _: called.append(threading.current_thread().name))
    other = service.submit(task(2, 0.0))

    def cancel():
        sleep(0.010)
        answers.append(future.cancel())

    together(cancel, cancel)
    service.close()
    kind = lab.agree(future, answers)
    lab.agree(other)
    lab.check(outcome(other) == "SUCCEEDED", "an interrupt hit the next run")
    lab.check(len(called) == 1, f"called back {len(called)} times")
    lab.on_time(1, future)
    return lab.answer(kind)


def deadline_while_waiting():
    """A task is due while another one runs, at the moment that one ends."""
    lab = Lab()
    service = lab.make()
    first = service.submit(task(1, 0.010))
    second = service.submit(task(2), deadline=0.010)
    threads = []
    second.add_done_callback(lambda _: threads.append(threading.current_thread().name))
    third = service.submit(task(3))
    ends = [lab.agree(each) for each in wait_all(first, second, third)]
    service.close()
    lab.on_time(2, second)
    if ends[1] == "EXPIRED":
        mine = threading.current_thread().name  # the task had expired before it was given the callback
        lab.check("clock" in threads[0] or threads[0] == mine, f"called back on {threads[0]}")
        lab.check(service.counters().expired == 1, "not counted")
        lab.check((second.task_id, "EXPIRED") in lab.told, "not told")
    lab.check(ends[0] == ends[2] == "SUCCEEDED", f"neighbours: {ends}")
    return lab.answer(ends[1], second.expired_kind)


def patient_submit(lab, inputs):
    """Submit as soon as the service is healthy; waits for ever if it never is, which the engine reports."""
    while True:
        lab.well.wait()
        try:
            return lab.service.submit(inputs)
        except ServiceUnhealthyError:
            observed()


def wait_all(*futures):
    for future in futures:
        future.exception_or_none = _wait(future)
    return futures


def _wait(future):
    try:
        return future.exception()
    except CancelledError as error:
        return error


def replacement():
    """Newer tasks replace the waiting one while it is cancelled and while the worker takes it."""
    lab = Lab(capacity=1, classes=(RequestClass(name="frame", overflow=OverflowPolicy.KEEP_LATEST),))
    service = lab.make()
    futures, answers, called = [], {}, []

    def camera(start):
        for n in range(2):
            future = service.submit(task(start + n, 0.001), request_class="frame")
            future.add_done_callback(lambda done: called.append(done.task_id))
            futures.append(future)

    def cancel():
        for future in tuple(futures):
            answers[future.task_id] = future.cancel()

    together(lambda: camera(10), lambda: camera(20), cancel)
    service.close()
    kinds = [lab.agree(each, [answers[each.task_id]] if each.task_id in answers else []) for each in futures]
    lab.check(sorted(called) == sorted(each.task_id for each in futures), f"called back for {called}")
    lab.check(service.counters().replaced == kinds.count("REPLACED"), "replacements are miscounted")
    lab.check(kinds[-1] != "REPLACED" or kinds.count("REPLACED") < 4, "every task was replaced")
    return lab.answer(*sorted(set(kinds)))


def blocked_submitters():
    """Three clients wait for one place: everyone gets in, in turn, and no wakeup is lost."""
    lab = Lab(capacity=1, classes=(RequestClass(overflow=OverflowPolicy.BLOCK),))
    service = lab.make()
    futures = []

    def client(value):
        for n in range(2):
            futures.append(service.submit(task(value + n, 0.001)))
            waiting = service.counters().waiting
            lab.check(waiting <= 1, f"{waiting} wait in one place")

    together(lambda: client(10), lambda: client(20), lambda: client(30))
    service.close()
    kinds = {lab.agree(each) for each in futures}
    lab.check(kinds == {"SUCCEEDED"} and len(futures) == 6, f"{len(futures)} tasks: {kinds}")
    return lab.answer()


def blocked_time_out():
    """A client's time-out is over just when the place is free: it is in or refused, and nobody's place is lost."""
    lab = Lab(capacity=1, classes=(RequestClass(overflow=OverflowPolicy.BLOCK, block_seconds=0.010),))
    service = lab.make()
    service.submit(task(1, 0.010))
    accepted, refused = [], []

    def client(value):
        try:
            accepted.append(service.submit(task(value, 0.001)))
        except QueueFullError:
            refused.append(value)

    together(*(lambda value=value: client(value) for value in (10, 20, 30)))
    service.close()
    kinds = {lab.agree(each) for each in accepted}
    lab.check(kinds <= {"SUCCEEDED"}, f"{kinds}")
    lab.check(len(accepted) + len(refused) == 3, "a client never came back")
    return lab.answer(len(accepted))


def close_wakes_blocked():
    """A close, by drain or abort, meets clients that wait for a place."""
    lab = Lab(capacity=1, classes=(RequestClass(overflow=OverflowPolicy.BLOCK),))
    service = lab.make()
    futures, refused = [service.submit(task(1, 0.010)), service.submit(task(2, 0.010))], []

    def client(value):
        try:
            futures.append(service.submit(task(value)))
        except ServiceClosedError:
            refused.append(value)

    def close():
        service.close(deadline=0.010)
        lab.check(all(each.done() for each in futures), "close returned before every task had ended")

    together(lambda: client(10), lambda: client(20), close, lambda: service.close(drain=False))
    kinds = sorted({lab.agree(each) for each in futures})
    lab.check(len(futures) + len(refused) == 4, "a client never came back")
    return lab.answer(*kinds)


def coalescing():
    """Equal requests join while one is cancelled and the worker takes the run."""
    lab = Lab(capacity=2, classes=(RequestClass(overflow=OverflowPolicy.COALESCE),))
    service = lab.make()
    futures, answers = [], {}
    service.submit(task(1, 0.001))

    def client(*, cancels):
        future = service.submit(task(7, 0.001), key="seven")
        futures.append(future)
        if cancels:
            answers[future] = future.cancel()

    together(lambda: client(cancels=False), lambda: client(cancels=True), lambda: client(cancels=False))
    service.close()
    for future in futures:
        kind = lab.agree(future, [answers[future]] if future in answers else [])
        lab.check(kind == "SUCCEEDED" or (kind == "CANCELLED" and future in answers), f"{kind} for a caller")
    outputs = [each.result(0) for each in futures if not each.cancelled()]
    lab.check(len({id(each) for each in outputs}) == len(outputs), "two callers share a dictionary")
    lab.check(not any(each["y"].flags.writeable for each in outputs), "a caller could change a result")
    lab.check(len({each.task_id for each in futures}) == 3, "two callers share an identity")
    runs = [value for value, _ in lab.started].count(7)
    lab.check(1 <= runs <= 3, f"{runs} runs")
    return lab.answer(runs)


def run_budget():
    """A run is over budget at the moment it ends; its slot is held until it has."""
    lab = Lab(run_budget=0.010, abandoned_limit=1, health_check=lambda _session: True)
    service = lab.make()
    slow = service.submit(task(1, 0.010))
    after = patient_submit(lab, task(2, 0.001))
    kinds = [lab.agree(each) for each in wait_all(slow, after)]
    service.close()
    over = kinds.count("OVER BUDGET")
    late = service.counters().late_results
    lab.check(late <= over, f"{late} late results of {over} tasks over budget")
    lab.check(service.health == "healthy" and lab.healths == over * ["unhealthy", "healthy"], f"health {lab.healths}")
    return lab.answer(kinds[0], late)


def abandoned():
    """Runs that nobody waits for stop admission at the limit; it comes back by itself when they have returned."""
    lab = Lab(slots=2, abandoned_limit=2)
    service = lab.make()
    running = [service.submit(task(n, 0.010), deadline=0.005) for n in (1, 2)]
    wait_all(*running)
    refused = 0
    try:
        service.submit(task(3)).result()
    except ServiceUnhealthyError:
        refused = 1
    later = patient_submit(lab, task(4))
    wait_all(later)
    service.close()
    lab.check(lab.agree(later) == "SUCCEEDED", "the service did not recover")
    lab.check(service.counters().abandoned == 0, "an abandoned run is counted for ever")
    lab.check(not refused or lab.healths == ["unhealthy", "healthy"], f"health {lab.healths}")
    return lab.answer(refused, *sorted({lab.agree(each) for each in running}))


def interrupt_own_run():
    """A cancel and a deadline interrupt a run that ends just then: never the next task's."""
    lab = Lab(grain=Grain.NODE)
    service = lab.make()
    first = service.submit(task(1, 0.009), deadline=0.010)
    last = service.submit(task(2, 0.010))
    answers = []

    def cancel():
        sleep(0.009)
        answers.append(first.cancel())

    together(cancel)
    service.close()
    kinds = [lab.agree(first, answers), lab.agree(last)]
    lab.check(kinds[1] == "SUCCEEDED", f"the last task is {kinds[1]}")
    return lab.answer(kinds[0])


def broken_session():
    """A run breaks its session: the slot is rebuilt before its next task, and the other slot goes on."""
    lab = Lab(slots=2, capacity=8)
    service = lab.make()
    broken = service.submit(task(-1, 0.002))
    others = [service.submit(task(n, 0.001)) for n in range(1, 5)]
    service.close()
    lab.check(lab.agree(broken) == "RuntimeError", f"broken: {outcome(broken)}")
    lab.check({lab.agree(each) for each in others} == {"SUCCEEDED"}, "a neighbour was harmed")
    told = [state for slot, state in lab.slots]
    lab.check(told.count("quarantined") == 1, f"told {told}")
    lab.check(told.count("closed") == 2, f"told {told}")
    return lab.answer(lab.opens)


def lazy_opening():
    """Three first requests at once: each slot loads at most once, and only for work that nobody takes at once."""
    lab = Lab(slots=2, capacity=8, opening=Opening.LAZY, open_seconds=0.005)
    service = lab.make()
    lab.check(lab.opens == 0, "a lazy service loaded before it had work")
    futures = []
    together(*(lambda n=n: futures.append(service.submit(task(n, 0.001))) for n in (1, 2, 3)))
    service.close()
    lab.check({lab.agree(each) for each in futures} == {"SUCCEEDED"}, "a first request failed")
    lab.check(1 <= lab.opens <= 2, f"{lab.opens} loads of 2 slots")
    opened = [slot for slot, state in lab.slots if state == "opening"]
    lab.check(len(opened) == len(set(opened)), "a slot was loaded twice")
    return lab.answer(lab.opens)


def order_and_floor():
    """Fair share with a floor: first in first out in each class, and the floor kept in every window."""
    classes = (
        RequestClass(name="voice", floor=0.5, weight=0.001),
        RequestClass(name="batch"),
    )
    lab = Lab(capacity=8, classes=classes, ordering=Ordering.FAIR_SHARE)
    service = lab.make()

    def client(name, base, count):
        for n in range(base, base + count):
            service.submit(task(n), request_class=name)
            lab.accepted[n] = monotonic()

    service.submit(task(0, 0.010))
    together(lambda: client("voice", 100, 2), lambda: client("batch", 200, 4))
    service.close()
    order = [int(value) for value, _ in lab.started]
    for base in (100, 200):
        mine = [value for value in order if base <= value < base + 100]
        lab.check(mine == sorted(mine), f"out of order: {mine}")
    first, second = (order.index(value) for value in (100, 101))
    # Both wait while the first task runs, in most executions: then the second one has its turn within two starts.
    early = lab.accepted[101] < lab.started[first][1]
    lab.check(second - first <= 2 or not early, f"floor broken: {order}")
    return lab.answer(second - first)


def callbacks_reenter():
    """Callbacks on the worker, the canceller and the clock submit, cancel and close."""
    lab = Lab(capacity=8)
    service = lab.make()
    more = []

    def again(done):
        with contextlib.suppress(ServiceClosedError):
            more.append(service.submit(task(50 + len(more))))
        done.cancel()
        service.close(drain=len(more) % 2 == 0, reason=CloseReason.PAGE_CLOSED)

    futures = [service.submit(task(1, 0.010), deadline=0.005), service.submit(task(2, 0.005)), service.submit(task(3))]
    for future in futures:
        future.add_done_callback(again)
    together(futures[2].cancel, service.close)
    service.close()
    for future in (*futures, *more):
        lab.agree(future)
    lab.check(not any(thread.is_alive() for thread in service._crew.threads), "close left a worker")
    lab.check(not service._clock.threads, "close left a clock")
    return lab.answer()


def blocking_expiry_callback():
    """A callback of one expired task waits for another task that must expire: the clock goes on without it."""
    lab = Lab(capacity=8)
    service = lab.make()
    service.submit(task(1, 0.050))
    late = service.submit(task(3), deadline=0.010)
    seen = []
    early = service.submit(task(2), deadline=0.005)
    early.add_done_callback(lambda _: seen.append(outcome(wait_all(late)[0])))
    wait_all(early, late)
    service.close()
    lab.check(seen in (["EXPIRED"], ["SUCCEEDED"]), f"the callback saw {seen}")
    return lab.answer(seen[0])


class SwitchLab(Lab):
    """Sessions know the version that they were opened for. The `failing`th opening of one, from 1, fails."""

    def __init__(self, failing=(), **config):
        super().__init__(model_version="v1", **config)
        self.failing, self.version_of, self.futures, self.opened = failing, {}, {}, {}

    def opener(self, version):
        def open_session(*, fallback=False):  # noqa: ARG001 - an opener's signature
            self.opened[version] = self.opened.get(version, 0) + 1
            observed()
            if (version, self.opened[version]) in self.failing:
                raise ModelLoadError("does not load")
            session = TimedSession(self)
            session.version, run = version, session.run

            def noted(inputs):
                self.version_of[float(inputs["x"][0])] = version
                return run(inputs)

            session.run = noted
            return session

        return open_session

    def make(self):
        config = ServiceConfig(capacity=self.capacity, observer=self, **self.config)
        self.service = SessionPool(self.opener("v1"), config)
        return self.service

    def submit(self, value, seconds=0.0, **options):
        self.futures[value] = self.service.submit(task(value, seconds), **options)
        return self.futures[value]

    def switch(self, version, **options):
        try:
            self.service.switch(self.opener(version), version=version, **options)
        except (SwitchError, ServiceClosedError) as error:
            return type(error).__name__
        self.check(self.service.counters().waiting >= 0, "no counters")
        return "switched"

    def kinds(self, *values):
        """How these tasks ended, with the version for those that ran; what a future claims is what its session was."""
        found = []
        for value in values:
            future = self.futures[value]
            kind = self.agree(future)
            ran = self.version_of.get(value)
            self.check(future.model_version == ran or kind == "CANCELLED", f"{value} claims {future.model_version}")
            found.append(f"{kind}:{ran}" if kind != "CANCELLED" else kind)
        return found


def _under_load(**options):
    """Tasks before, during and after a switch of two slots, with a failing session among them."""
    order = options.pop("order", "open-first")
    pending = options.pop("pending", "finish")
    lab = SwitchLab(capacity=8, slots=2, **options)
    with lab.make():
        for value in (1, 2, 3, 4):
            lab.submit(value, 0.001)
        answers = []

        def switcher():
            answers.append(lab.switch("v2", order=order, pending=pending))
            lab.submit(9)

        together(switcher, lambda: (lab.submit(5), lab.submit(6)))
    lab.check(answers == ["switched"], f"the switch answered {answers}")
    before, during, (after,) = lab.kinds(1, 2, 3, 4), lab.kinds(5, 6), lab.kinds(9)
    allowed = {"SUCCEEDED:v1"} | ({"CANCELLED"} if pending == "cancel" else set())
    lab.check(set(before) <= allowed, f"before: {before}")
    lab.check(set(during) <= allowed | {"SUCCEEDED:v2"}, f"during: {during}")
    lab.check(after == "SUCCEEDED:v2", f"after: {after}")
    return lab.answer(*sorted(set(before + during)))


def switch_under_load():
    return _under_load()


def switch_closing_first():
    return _under_load(order="close-first")


def switch_cancelling():
    return _under_load(pending="cancel")


def switch_cancelling_and_closing_first():
    return _under_load(pending="cancel", order="close-first")


def switch_of_a_lazy_pool():
    return _under_load(opening=Opening.LAZY)


def _failing_switch(order, failing):
    lab = SwitchLab(capacity=8, slots=2, failing=failing)
    answers = []
    with lab.make():
        lab.submit(1, 0.001)
        together(lambda: answers.append(lab.switch("v2", order=order)), lambda: (lab.submit(2), lab.submit(3)))
        lab.submit(4)
    lab.check(answers == ["SwitchError"], f"the switch answered {answers}")
    kinds = lab.kinds(1, 2, 3, 4)
    lab.check(set(kinds) == {"SUCCEEDED:v1"}, f"{kinds}")
    return lab.answer()


def switch_that_fails():
    return _failing_switch("open-first", {("v2", 2)})


def switch_that_fails_closing_first():
    return _failing_switch("close-first", {("v2", 2)})


def switch_races_close():
    """A close during a switch: both return, and every task has ended."""
    lab = SwitchLab(capacity=8, slots=2)
    service = lab.make()
    lab.submit(1, 0.001)
    lab.submit(2, 0.001)
    answers = []
    together(lambda: answers.append(lab.switch("v2")), lambda: service.close(drain=True))
    lab.check(answers[0] in {"switched", "ServiceClosedError"}, f"the switch answered {answers}")
    kinds = lab.kinds(1, 2)
    lab.check(set(kinds) == {"SUCCEEDED:v1"}, f"{kinds}")
    lab.check(lab.switch("v3") == "ServiceClosedError", "a closed service was switched")
    return lab.answer(answers[0])


def two_switches():
    """Both succeed, one after the other; what comes afterwards gets the version of the last."""
    lab = SwitchLab(capacity=8)
    order = []

    def switcher(version, *, by):
        answer = lab.switch(version, order=by)
        lab.check(answer == "switched", f"{version}: {answer}")
        order.append(version)

    with lab.make():
        lab.submit(1, 0.001)
        together(
            lambda: switcher("v2", by="open-first"), lambda: switcher("v3", by="close-first"), lambda: lab.submit(2)
        )
        lab.submit(3)
    (last,) = lab.kinds(3)
    opened = [session.version for session in lab.sessions]
    lab.check(last == f"SUCCEEDED:{opened[-1]}", f"{last} after {opened}")
    lab.check(opened in (["v1", "v2", "v3"], ["v1", "v3", "v2"]), f"{opened}")
    lab.check(lab.kinds(1) == ["SUCCEEDED:v1"], f"{lab.kinds(1)}")
    return lab.answer(opened[-1])


def switch_with_a_broken_session():
    """A session breaks during the switch: its slot is rebuilt for the tasks that still need it."""
    lab = SwitchLab(capacity=8)
    answers = []
    with lab.make():
        lab.submit(-1, 0.001)
        lab.submit(2)
        together(lambda: answers.append(lab.switch("v2")), lambda: lab.submit(3))
        lab.submit(4)
    kinds = lab.kinds(2, 3, 4)
    lab.check(
        answers == ["switched"] and kinds[0] == "SUCCEEDED:v1" and kinds[2] == "SUCCEEDED:v2", f"{answers} {kinds}"
    )
    return lab.answer(kinds[1])


def switch_with_a_deadline():
    """Tasks of the old version that wait when the time is over are cancelled."""
    lab = SwitchLab(capacity=8)
    with lab.make():
        lab.submit(1, 0.050)
        lab.submit(2, 0.050)
        answer = lab.switch("v2", deadline=0.010)
        lab.submit(3)
    kinds = lab.kinds(1, 2, 3)
    lab.check(answer == "switched", answer)
    return lab.answer(*kinds)
