"""Interrupts that come before the call which they are meant for has been bound, on real runtimes."""

import threading
from importlib.util import find_spec

import numpy as np
import pytest
from service_fakes import GUARD

from adapters.base import Grain, RunError, RunInterruptedError
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service.config import ServiceConfig
from harness.service.errors import DeadlineExpiredError
from harness.service.queue import SerialQueue

PACKAGES = {"numpy": "numpy", "onnxruntime": "onnxruntime", "tflite": "tflite_runtime"}
LONG = 30_000
"""Rounds of the slow model that take a second or so: what is not interrupted delays the test, and fails it."""


class Watched:
    """A call that lets a test act just before the bind, and notes what the invoke raised."""

    def __init__(self, runtime, inner):
        self.runtime, self.inner = runtime, inner

    def bind(self):
        self.runtime.before_bind()
        self.inner.bind()

    def invoke(self):
        try:
            self.inner.invoke()
        except Exception as error:
            self.runtime.raised.append(type(error))
            raise
        self.runtime.raised.append(None)

    def fetch(self):
        return self.inner.fetch()


class Runtime:
    """A real runtime with the slow model, whose calls are watched."""

    def __init__(self, name):
        if find_spec(PACKAGES[name]) is None:
            pytest.skip(f"the runtime {PACKAGES[name]} is not installed")
        self.adapter = load_adapter(name)
        self.model = resolve("builtin:slow", self.adapter.suffixes)
        self.raised, self.sessions = [], []
        self.before_bind = lambda: None
        self.interrupt = None

    def open(self, *, fallback=False):
        assert not fallback
        session = self.adapter.open(self.model, self.adapter.default_delegate, {})
        assert session.interrupt_grain is Grain.NODE
        call = session.call
        session.call = lambda inputs: Watched(self, call(inputs))
        if self.interrupt is not None:
            session.interrupt = self.interrupt
        self.sessions.append(session)
        return session

    def inputs(self, rounds):
        specs = self.sessions[0].contract.inputs
        return {
            spec.name: np.full(spec.shape, rounds, np.int32) if spec.name == "n" else np.ones(spec.shape, np.float32)
            for spec in specs
        }


@pytest.mark.parametrize("runtime", PACKAGES)
@pytest.mark.parametrize("how", ["cancel", "deadline"])
def test_a_task_that_ends_between_its_dequeue_and_the_bind_ends_its_call(runtime, how):
    runtime = Runtime(runtime)
    with SerialQueue(runtime.open, ServiceConfig(capacity=2)) as queue:
        futures = []

        def give_up():
            while not futures:
                threading.Event().wait(0.001)  # the submit is about to return
            assert futures[0].running() or how == "deadline"
            if how == "cancel":
                assert futures[0].cancel()
            else:
                assert isinstance(futures[0].exception(GUARD), DeadlineExpiredError)

        runtime.before_bind = give_up
        options = {"deadline": 0.2} if how == "deadline" else {}
        futures.append(queue.submit(runtime.inputs(LONG), **options))
        while not runtime.raised:
            threading.Event().wait(0.001)
        assert runtime.raised == [RunInterruptedError], "the run is ended as soon as it starts"
        runtime.before_bind = lambda: None
        assert queue.submit(runtime.inputs(1)).result(GUARD)
    assert len(runtime.sessions) == 1, "an interrupted session is sound"


def test_a_session_that_cannot_be_interrupted_after_all_is_rebuilt():
    runtime = Runtime("numpy")

    def refuse():
        raise RunError("no")

    runtime.interrupt = refuse
    with SerialQueue(runtime.open, ServiceConfig(capacity=2)) as queue:
        futures = []

        def give_up():
            while not futures:
                threading.Event().wait(0.001)
            futures[0].cancel()
            runtime.before_bind = lambda: None

        runtime.before_bind = give_up
        futures.append(queue.submit(runtime.inputs(1)))
        assert queue.submit(runtime.inputs(1)).result(GUARD)
    assert runtime.raised == [None, None]
    assert len(runtime.sessions) == 2


def test_a_session_that_runs_in_its_own_way_is_not_taken_apart():
    runtime = Runtime("numpy")
    ran = []

    def opened(*, fallback=False):
        session = runtime.open(fallback=fallback)

        class OwnWay(type(session)):
            def run(self, inputs):
                ran.append(sorted(inputs))
                return super().run(inputs)

        session.__class__ = OwnWay
        return session

    with SerialQueue(opened, ServiceConfig(capacity=2)) as queue:
        queue.submit(runtime.inputs(1)).result(GUARD)
    assert ran == [["n", "x"]]
