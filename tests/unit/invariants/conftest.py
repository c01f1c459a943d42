"""Histories by hand (`Book`) and at random (`simulate`, a correct queue whose calls overlap)."""

from __future__ import annotations

import dataclasses
import random

import msgspec
import pytest

from harness.history import Event, History
from harness.invariants.catalogue import check_all


class Book:
    """Writes a history by hand, one line an event.

    `begin` gives the number of a call to `end`; `submit`, `cancel`, `close`, `run` and `open` write whole calls.
    """

    def __init__(self, mode="controlled"):
        self.mode = mode
        self.events = []
        self.now_ms = 0
        self._calls = 0
        self._kinds = {}

    def mark(self, kind, thread="main", task=None, session=None, slot=None, **attrs):
        self.events.append(Event(len(self.events), self.now_ms * 1_000_000, thread, kind, task, session, slot, attrs))
        return self.events[-1]

    def begin(self, kind, thread="main", task=None, session=None, call=None, **attrs):
        if call is None:
            self._calls += 1
            call = self._calls
        self._kinds[call] = (kind, thread, task, session)
        self.mark(kind + "-begin", thread, task, session, call=call, **attrs)
        return call

    def end(self, call, **attrs):
        kind, thread, task, session = self._kinds[call]
        return self.mark(kind + "-end", thread, task, session, call=call, **attrs)

    def service(self, capacity=2, workers=1, answer="ok", *, running_cancel=True, tells_dequeue=False, **declared):
        call = self.begin(
            "service-open",
            capacity=capacity,
            workers=workers,
            running_cancel=running_cancel,
            tells_dequeue=tells_dequeue,
            **declared,
        )
        self.end(call, answer=answer)

    def declare(self, name="default", overflow="reject", capacity=-1, floor=0):
        attrs = {"class": name, "overflow": overflow, "capacity": capacity, "floor_percent": floor}
        self.mark("request-class", **attrs)

    def open(self, session="s1", thread="w1", *, asked=False, **attrs):
        truth = {
            "answer": "ok",
            "requested": "xnnpack",
            "actual": "xnnpack",
            "fallback": False,
            "sharing": "exclusive",
            "evidence": "node list",
        }
        self.end(self.begin("session-open", thread, None, session, fallback=asked), **{**truth, **attrs})

    def submit(self, task, answer="accepted", thread="main", refusal=None, end=None, **begin):
        call = self.begin("submit", thread, task, **begin)
        self.end(call, answer=answer, **({"refusal": refusal} if refusal else {}), **(end or {}))

    def cancel(self, task, kind="queued", thread="main", *, answer=True):
        self.end(self.begin("cancel", thread, task), answer=answer, cancel_kind=kind if answer else None)

    def close(self, drain=None, thread="main", *, reentrant=False):
        self.end(self.begin("service-close", thread, drain=drain), answer="returned", reentrant=reentrant)

    def release(self, session="s1", thread="w1", *, again=False):
        self.end(self.begin("session-close", thread, None, session, again=again), answer="ok")

    def bind(self, task, session="s1", thread="w1", *, reached=True, **attrs):
        call = self.begin("bind", thread, task, session, **attrs)
        self.end(call, answer="ok" if reached else "error", reached_runtime=reached)
        return call

    def step(self, call, kind):
        _, thread, task, session = self._kinds[call]
        self.begin(kind, thread, task, session, call)
        self.end(call, answer="ok")

    def run(self, task, session="s1", thread="w1", **attrs):
        call = self.bind(task, session, thread, **attrs)
        self.step(call, "invoke")
        self.step(call, "fetch")

    def deliver(self, task, outcome="SUCCEEDED", output="match", via="sweep", **attrs):
        if outcome == "SUCCEEDED":
            attrs["output"] = output
        return self.mark("deliver", "main", task, outcome=outcome, via=via, **attrs)

    def history(self):
        return History(self.mode, tuple(self.events))

    def judge(self, invariant):
        return check_all(self.history())[invariant]

    def broken(self, invariant):
        """The messages of the invariant's violations; every event they point at exists."""
        judgement = self.judge(invariant)
        seqs = {event.seq for event in self.events}
        for violation in judgement.violations:
            assert violation.invariant == invariant
            assert violation.events, "a violation points at events"
            assert set(violation.events) <= seqs
        return [violation.message for violation in judgement.violations]


@dataclasses.dataclass
class Queue:
    """The sequential specification: each effect happens at once, somewhere inside its call."""

    capacity: int
    workers: int
    tells: bool
    lazy: bool  # a cancelled task keeps its place until a worker comes to it
    drain: bool
    waiting: list = dataclasses.field(default_factory=list)
    accepted: list = dataclasses.field(default_factory=list)
    errors: list = dataclasses.field(default_factory=list)
    running: set = dataclasses.field(default_factory=set)
    outcome: dict = dataclasses.field(default_factory=dict)
    cancelled_as: dict = dataclasses.field(default_factory=dict)
    frozen_late: set = dataclasses.field(default_factory=set)
    delivered: set = dataclasses.field(default_factory=set)
    closing: bool = False
    serving: int = 0
    replaces: bool = False  # a full queue replaces its oldest task
    due: dict = dataclasses.field(default_factory=dict)
    expired_as: dict = dataclasses.field(default_factory=dict)
    callbacks: dict = dataclasses.field(default_factory=dict)


def finish(book, queue, thread, task, outcome):
    """Give a task its outcome, unless it has one, and run its callbacks on this thread."""
    if task in queue.outcome:
        return
    queue.outcome[task] = outcome
    queue.errors += {"FAILED": ["RunError"], "EXPIRED": ["LateError"]}.get(outcome, [])
    for _ in range(queue.callbacks.pop(task, 0)):
        book.end(book.begin("callback", thread, task, done=True), answer="returned")


def expire(book, queue, thread, task):
    queue.expired_as[task] = "running" if task in queue.running else "queued"
    if not queue.lazy:
        queue.waiting = [item for item in queue.waiting if item[0] != task]
    finish(book, queue, thread, task, "EXPIRED")


def clock(book, queue, dice):
    for _ in range(40):
        yield
        book.now_ms += dice.randrange(3)
        for task in [task for task, due in queue.due.items() if due <= book.now_ms and task not in queue.outcome]:
            expire(book, queue, "clock", task)


def admit(book, queue, dice, thread, task, *, malformed, deadline_ms=None):
    if queue.closing:
        return {"answer": "refused", "refusal": "closed"}
    if malformed and dice.random() < 0.5:
        return {"answer": "refused", "refusal": "contract"}
    if len(queue.waiting) >= queue.capacity:
        if not (queue.replaces and queue.waiting):
            return {"answer": "refused", "refusal": "full"}
        finish(book, queue, thread, queue.waiting.pop(0)[0], "REPLACED")
    queue.waiting.append((task, malformed))
    queue.accepted.append(task)
    if deadline_ms is not None:
        queue.due[task] = book.now_ms + deadline_ms
    return {"answer": "accepted"}


def submitter(book, queue, dice, name, tasks):
    for task in tasks:
        malformed = dice.random() < 0.1
        deadline = {"deadline_ms": dice.randrange(1, 30)} if dice.random() < 0.3 else {}
        call = book.begin("submit", name, task, **({"malformed": True} if malformed else {}), **deadline)
        yield
        if dice.random() < 0.1:
            # The service copies later than this: both inputs are right.
            book.mark("input-overwritten", "scribbler", task)
            queue.frozen_late.add(task)
            yield
        answer = admit(book, queue, dice, name, task, malformed=malformed, **deadline)
        yield
        book.end(call, **answer)
        yield
        if answer["answer"] == "accepted":
            yield from after_accept(book, queue, dice, name, task)


def after_accept(book, queue, dice, name, task):
    if task not in queue.frozen_late and dice.random() < 0.3:
        book.mark("input-overwritten", name, task)
        yield
    if dice.random() < 0.3:
        yield from add_callback(book, queue, name, task)
    if dice.random() < 0.4:
        yield from waiter(book, queue, dice, name, task)


def add_callback(book, queue, name, task):
    call = book.begin("add-callback", name, task)
    yield
    if task in queue.outcome:
        book.end(book.begin("callback", name, task, done=True), answer="returned")
    else:
        queue.callbacks[task] = queue.callbacks.get(task, 0) + 1
    yield
    book.end(call)


def waiter(book, queue, dice, name, task):
    call = book.begin("wait", name, task, timeout_ms=10)
    yield
    while task not in queue.outcome:
        if dice.random() < 0.1:
            book.end(call, answer="timed-out")
            return
        yield "blocked"
    book.end(call, answer="done")
    yield
    deliver(book, queue, task)


def deliver(book, queue, task):
    outcome = queue.outcome[task]
    if outcome == "SUCCEEDED":
        output = f"overwritten:{task}" if task in queue.frozen_late else "match"
        book.deliver(task, output=output)
    elif outcome == "FAILED":
        book.deliver(task, "FAILED", error="RunError", foreign=False)
    elif outcome == "EXPIRED":
        book.deliver(task, "EXPIRED", expired_kind=queue.expired_as[task])
    else:
        book.deliver(task, outcome)


def canceller(book, queue, name, tasks):
    for task in tasks:
        known = task in queue.outcome or task in queue.running or any(task == t for t, _ in queue.waiting)
        if not known or not any(e.kind == "submit-end" and e.task == task for e in book.events):
            yield
            continue
        call = book.begin("cancel", name, task)
        yield
        kind = cancel(book, queue, name, task)
        yield
        book.end(call, answer=kind is not None, cancel_kind=kind)
        yield


def cancel(book, queue, thread, task):
    if queue.outcome.get(task) == "CANCELLED":
        return queue.cancelled_as.get(task)
    if task in queue.outcome:
        return None
    if task in queue.running:
        kind = "running"
    else:
        kind = "queued"
        if not queue.lazy:
            queue.waiting = [item for item in queue.waiting if item[0] != task]
    queue.cancelled_as[task] = kind
    finish(book, queue, thread, task, "CANCELLED")
    return kind


def closer(book, queue, dice, name):
    for _ in range(dice.randrange(60)):
        yield
    call = book.begin("service-close", name, drain=queue.drain)
    yield
    if not queue.closing and queue.tells:
        book.mark("state", name, state="draining")
    queue.closing = True
    if not queue.drain:
        for task, _ in queue.waiting:
            finish(book, queue, name, task, "CANCELLED")
        queue.waiting = []
    while queue.serving:
        yield "blocked"
    book.end(call, answer="returned", reentrant=False)
    yield
    late = f"late-{name}"
    book.submit(late, "refused", name, refusal="closed")


def worker(book, queue, dice, number):
    name, session = f"w{number}", f"s{number}"
    while True:
        while not queue.waiting and not queue.closing:
            yield "blocked"
        if not queue.waiting:
            break
        task, malformed = queue.waiting.pop(0)
        if task in queue.outcome:
            continue
        if queue.due.get(task, book.now_ms + 1) <= book.now_ms:
            expire(book, queue, name, task)  # the clock may be late
            continue
        queue.running.add(task)
        if queue.tells:
            book.mark("dequeue", name, task)
        yield
        failed = yield from serve(book, queue, dice, name, session, task, malformed)
        if failed and queue.tells:
            session = yield from rebuild(book, name, session)
    call = book.begin("session-close", name, None, session, again=False)
    yield
    book.end(call, answer="ok")
    queue.serving -= 1


def rebuild(book, name, session):
    """Give back the session after a failed run, and open another."""
    book.mark("slot-state", name, slot=f"slot-{name}", state="quarantined")
    yield
    book.release(session, name)
    yield
    book.open(session + "+", name)
    book.mark("slot-state", name, slot=f"slot-{name}", state="ready")
    yield
    return session + "+"


def serve(book, queue, dice, name, session, task, malformed):
    if queue.tells:
        book.mark("lease-begin", name, task, slot=f"slot-{name}")
    call = book.begin("bind", name, task, session)
    yield
    book.end(call, answer="error" if malformed else "ok", reached_runtime=not malformed)
    failed = malformed
    for step in () if malformed else ("invoke", "fetch"):
        yield
        book.begin(step, name, task, session, call)
        yield
        failed = dice.random() < 0.1
        if failed:
            scope = "request" if len(book.events) % 2 else "context"
            book.mark("fault-injected", name, task, session, fault="run-failure", point=step, scope=scope)
        book.end(call, answer="error" if failed else "ok")
        if failed:
            break
    yield
    if queue.tells:
        book.mark("lease-end", name, slot=f"slot-{name}")
    queue.running.discard(task)
    finish(book, queue, name, task, "FAILED" if failed else "SUCCEEDED")
    yield
    return failed and not malformed


def looker(book, queue, dice):
    """Look at the counters now and then; they are taken at once, somewhere inside the look."""
    for _ in range(4):
        for _ in range(dice.randrange(12)):
            yield
        call = book.begin("look", "looker")
        yield
        told = counters(queue)
        yield
        book.end(call, answer="told", **told)
        yield


def counters(queue):
    waiting = [task for task, _ in queue.waiting if task not in queue.outcome]
    return {
        "accepted": len(queue.accepted),
        "waiting": len(queue.waiting),
        "running": len(queue.running),
        "live_tasks": sum(task not in queue.outcome for task in queue.accepted),
        "buffers": len(waiting) + len(queue.running),
        "expired": sum(outcome == "EXPIRED" for outcome in queue.outcome.values()),
        "replaced": sum(outcome == "REPLACED" for outcome in queue.outcome.values()),
        "last_error": queue.errors[-1] if queue.errors else None,
    }


def simulate(book, dice):
    """Fill the book with one execution of a correct queue under a random schedule."""
    queue = Queue(
        dice.randrange(3), dice.choice((1, 1, 2)), dice.random() < 0.5, dice.random() < 0.5, dice.random() < 0.6
    )
    if queue.tells:
        queue.lazy = False
    queue.replaces = dice.random() < 0.3
    declared = {"overflow": "replace-oldest"} if queue.replaces else {}
    book.service(queue.capacity, queue.workers, tells_dequeue=queue.tells, order="fifo", **declared)
    queue.serving = queue.workers
    for number in range(queue.workers):
        book.open(f"s{number}", f"w{number}")
    tasks = [f"t{n}" for n in range(6)]
    threads = [worker(book, queue, dice, number) for number in range(queue.workers)]
    threads += [submitter(book, queue, dice, "a", tasks[:3]), submitter(book, queue, dice, "b", tasks[3:])]
    threads += [clock(book, queue, dice)]
    threads += [looker(book, queue, dice)] if book.mode == "controlled" else []
    threads += [canceller(book, queue, "c", dice.sample(tasks, 4) * 3)]
    threads += [closer(book, queue, dice, name) for name in ("x", "y")[: dice.choice((1, 2))]]
    while threads:
        thread = dice.choice(threads)
        for _ in range(dice.choice((1, 1, 1, 4))):
            if next(thread, "over") == "over":
                threads.remove(thread)
                break
    book.mark("quiescent")
    for event in list(book.events):
        if event.kind == "submit-end" and event.attrs["answer"] == "accepted":
            deliver(book, queue, event.task)
    return queue


def correct_execution(seed, mode):
    book = Book(mode)
    return book, simulate(book, random.Random(seed))


@pytest.fixture(params=["controlled", "stress"])
def book(request):
    return Book(request.param)


@pytest.fixture
def controlled():
    return Book("controlled")


@pytest.fixture
def stress():
    return Book("stress")


@pytest.fixture(scope="session")
def execution():
    """Make the book of a correct execution, with the queue's final state, from a seed and a mode."""
    return correct_execution


@pytest.fixture(scope="session")
def renumber():
    """Give events new numbers in the order of the list, after a mutation."""
    return lambda events: tuple(msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events))
