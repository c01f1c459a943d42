"""A FAKE session for unit tests: doubles its input, can be held inside invoke, and records which thread did what.

It checks what the service promises to a session (one call at a time, on the thread that opened it, nothing after close)
and remembers every breach instead of raising, so that a test cannot miss one on a worker thread.
"""

import threading

import numpy as np

from adapters.base import Contract, Counters, DelegateTruth, Grain, Identity, Session, TensorSpec

GUARD = 10.0  # seconds; ends a test that would hang, never orders anything


class FakeCall:
    def __init__(self, session, inputs):
        self.session, self.inputs = session, inputs

    def bind(self):
        pass

    def invoke(self):
        self.session.invoke(self.inputs)

    def fetch(self):
        return {"y": self.inputs["x"] * 2}


class FakeSession(Session):
    contract = Contract(
        inputs=(TensorSpec(name="x", dtype="float32", shape=(1,)),),
        outputs=(TensorSpec(name="y", dtype="float32", shape=(1,)),),
    )
    identity = Identity(runtime="fake", version="0", build="", artifacts={})

    def __init__(self, runtime, number, delegate):
        self.runtime, self.number = runtime, number
        self.delegate = DelegateTruth(
            requested="fast", actual=delegate, graph_nodes=1, placement=(), evidence="fake", fallback=delegate == "cpu"
        )
        self.interrupt_grain = runtime.grain
        self.opened_on = self.closed_on = None
        self.ran_on = set()
        self.closes = 0
        self.inside = None
        self.opened_on = threading.current_thread()

    def call(self, inputs):
        return FakeCall(self, inputs)

    def run(self, inputs):
        here = threading.current_thread()
        self.ran_on.add(here)
        if self.inside is not None or here is not self.opened_on or self.closes:
            self.runtime.breaches.append(("run", self.number))
        self.inside = float(inputs["x"][0])
        try:
            return super().run(inputs)
        finally:
            self.inside = None

    def invoke(self, inputs):
        self.runtime.invoked(float(inputs["x"][0]))

    def interrupt(self):
        self.runtime.interrupted(self)

    def counters(self):
        return Counters(live_contexts=0 if self.closes else 1)

    def close(self):
        if self.inside is not None or threading.current_thread() is not self.opened_on:
            self.runtime.breaches.append(("close", self.number))
        self.closes += 1
        self.closed_on = threading.current_thread()
        if self.runtime.close_error is not None:
            raise self.runtime.close_error


class FakeRuntime:
    """Opens fake sessions and holds the tasks whose value is in `gates` inside invoke."""

    def __init__(self):
        self.sessions = []
        self.open_errors = {}  # how-manyth open -> error
        self.run_errors = {}  # task value -> error
        self.close_error = None
        self.grain = Grain.NONE
        self.gates = {}
        self.entered = {}
        self.order = []
        self.interrupts = []
        self.on_interrupt = None
        self.breaches = []
        self.fallbacks_asked = []

    def open(self, *, fallback=False):
        number = len(self.fallbacks_asked)
        self.fallbacks_asked.append(fallback)
        if number in self.open_errors:
            raise self.open_errors[number]
        session = FakeSession(self, number, "cpu" if fallback else "fast")
        self.sessions.append(session)
        return session

    def hold(self, value):
        self.gates[float(value)] = threading.Event()
        self.entered[float(value)] = threading.Event()

    def wait_inside(self, value):
        assert self.entered[float(value)].wait(GUARD), f"task {value} never reached invoke"

    def let_go(self, value):
        self.gates[float(value)].set()

    def invoked(self, value):
        self.order.append(value)
        if value in self.gates:
            self.entered[value].set()
            assert self.gates[value].wait(GUARD), f"task {value} was never let go"
        if value in self.run_errors:
            raise self.run_errors[value]

    def interrupted(self, session):
        self.interrupts.append(session.inside)
        if self.on_interrupt is not None:
            self.on_interrupt(session)


def task(value):
    return {"x": np.array([value], dtype=np.float32)}


def value_of(outputs):
    return float(outputs["y"][0])


def inside(runtime, pool, value=0, **options):
    """Submit a task and wait until its run is inside the runtime, where it is held."""
    runtime.hold(value)
    future = pool.submit(task(value), **options)
    runtime.wait_inside(value)
    return future
