"""A native call that is held for a virtual time: its return is a timer, and nobody moves while it returns."""

import threading
import time

from harness.engine import real
from harness.engine.native_calls import Timed
from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.strategies.scripted import Scripted
from harness.engine.threads import current

SECONDS = 5.0


def note(trace, what):
    """What a search must know of: the order of these is what is looked at."""
    current().kernel.touch(current(), trace)
    trace.append(what)


class Call:
    """A real wait on a real lock, which no engine sees, in the place of native code."""

    def __init__(self, trace):
        self.trace = trace
        self.me = current()
        self.inside, self.gate, self.returned = (real.allocate_lock() for _ in range(3))
        for lock in (self.inside, self.gate, self.returned):
            lock.acquire()

    def make(self, seconds=SECONDS):
        timed = Timed(seconds, self._pass_through, self._end)
        note(self.trace, "in")
        self.me.kernel.native(self.me, self._wait, self.inside.acquire, timed)
        note(self.trace, "out")

    def _wait(self):
        self.inside.release()
        self.gate.acquire()
        self.returned.release()

    def _pass_through(self):
        self.inside.acquire()
        self.gate.release()

    def _end(self):
        kernel = self.me.kernel
        passed_over = [thread for thread in kernel._timers if thread.deadline_ns < self.me.deadline_ns]
        assert not passed_over, "what is due earlier is over first"
        self.gate.release()
        self.returned.acquire()
        self.me.kernel.expect_return(self.me)


def beside(call_of, other):
    """A program in which one thread makes a call and another does something."""

    def program(trace):
        thread = threading.Thread(target=lambda: other(trace))
        thread.start()
        call_of(trace)
        thread.join()
        return current().kernel.now_ns, current().kernel.real_time_mattered

    return program


def steps(trace):
    for step in ("a", "b"):
        current().kernel.point(current())
        note(trace, step)


def make_call(trace):
    Call(trace).make()


def test_without_a_choice_it_returns_when_nobody_else_can_go_and_its_time_is_over(bench):
    ran = bench.once(beside(make_call, steps), Scripted())
    assert ran.trace == ["in", "a", "b", "out"]
    assert ran.result == (SECONDS * 1e9, False)
    assert not ran.left


def test_it_returns_at_every_moment_and_each_replays(bench):
    program = beside(make_call, steps)
    seen = {}
    for ran in bench.many(program, 60, strategy="random"):
        seen.setdefault(tuple(ran.trace), ran)
    assert {("in", "out", "a", "b"), ("in", "a", "out", "b"), ("in", "a", "b", "out")} <= seen.keys()
    for trace, ran in seen.items():
        assert tuple(bench.replay(program, ran).trace) == trace
        assert not ran.result[1]


def test_a_preemption_buys_an_early_return(bench):
    seen = []
    for bound in (0, 1):
        strategy = Exhaustive(bound)
        traces = set()
        while (ran := bench.search(beside(make_call, steps), strategy, 0)) is not None:
            traces.add(tuple(ran.trace))
        seen.append(traces)
    early = ("in", "a", "out", "b")
    assert early not in seen[0]
    assert early in seen[1]


def test_who_reads_the_clock_when_its_time_is_over_makes_it_return(bench):
    def late(trace):
        kernel = current().kernel
        kernel.now_ns += 6_000_000_000
        time.monotonic()
        note(trace, "late")

    ran = bench.once(beside(make_call, late), Scripted())
    assert ran.trace == ["in", "late", "out"], "it has returned, and goes on when it is chosen"
    assert ran.result[0] >= 6_000_000_000


def test_what_is_due_earlier_is_over_first(bench):
    def sleeps(trace):
        note(trace, "asleep")
        time.sleep(1.0)
        note(trace, "awake")

    seen = {tuple(ran.trace) for ran in bench.many(beside(make_call, sleeps), 60, strategy="random")}
    assert ("in", "asleep", "awake", "out") in seen
    assert ("in", "out", "asleep", "awake") in seen, "before the sleep began"
