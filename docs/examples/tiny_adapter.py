"""A complete adapter, for a runtime made up here: one buffer in, one buffer out, nothing checked.

racegate run --target docs/examples/tiny_adapter.py:TinyAdapter
"""

import json

import numpy as np

from adapters.base import (
    Adapter,
    Availability,
    Contract,
    Counters,
    DelegateInitError,
    DelegateTruth,
    Identity,
    ModelLoadError,
    OptionError,
    Placement,
    RunError,
    Session,
    SessionClosedError,
    Sharing,
    StagedCall,
    TensorSpec,
    check_inputs,
    check_outputs,
)


class TinyEngine:
    """The runtime. A real one is a native library, imported inside `probe` and `open` and nowhere else."""

    VERSION = "1.4.0"

    def __init__(self, data):
        self.model = json.loads(data)
        self.input = self.output = np.zeros(self.model["shape"], np.float32)
        self.runs = 0

    def execute(self):
        self.runs += 1
        if self.model["kind"] == "permutation":
            self.output = self.input[..., self.model["order"]]
        elif self.model["kind"] == "affine":
            self.output = self.input * np.float32(self.model["scale"]) + np.float32(self.model["offset"])
        elif self.model["kind"] == "stateful":
            self.output = self.input + np.float32(self.model["step"] * self.runs)
        else:
            raise ValueError("no such kernel")


class TinyAdapter(Adapter):
    name = "tiny"
    suffixes = (".json",)  # a format of the built-in models, so that the suite's controls run here too
    default_delegate = "cpu"
    cpu_delegate = "cpu"

    def probe(self):
        return Availability(importable=True, version=TinyEngine.VERSION, build="made up", delegates=("cpu",))

    def open(self, model, delegate, options):
        if unknown := sorted(options.keys() - {"fallback"}):
            raise OptionError(f"unknown option {unknown[0]!r}; this adapter has: fallback")
        if delegate != "cpu" and not options.get("fallback", False):
            raise DelegateInitError(f"there is no delegate {delegate!r}, only 'cpu'")
        try:
            engine = TinyEngine(model.data)
        except (ValueError, KeyError, TypeError) as error:
            raise ModelLoadError("the runtime does not load these bytes") from error
        return TinySession(engine, delegate)


class TinySession(Session):
    sharing = Sharing.EXCLUSIVE  # all its calls use the same two buffers

    def __init__(self, engine, requested):
        self._engine = engine
        self._last_error = None
        shape = tuple(engine.model["shape"])
        self.contract = Contract(
            inputs=(TensorSpec(name="x", dtype="float32", shape=shape),),
            outputs=(TensorSpec(name="y", dtype="float32", shape=shape),),
        )
        self.identity = Identity(runtime="tiny", version=TinyEngine.VERSION, build="made up", artifacts={})
        self.delegate = DelegateTruth(
            requested=requested,
            actual="cpu",
            graph_nodes=1,
            placement=(Placement(on="cpu", nodes=1, partitions=1),),
            evidence="the runtime has one executor",
            init_error=None if requested == "cpu" else "DelegateInitError",
            fallback=requested != "cpu",
        )

    def call(self, inputs):
        return StagedCall(self, inputs)  # nothing is checked or copied before bind

    def bind(self, inputs):
        self._alive()
        check_inputs(self.contract, inputs)  # before the runtime sees them
        self._engine.input = np.array(inputs["x"])  # a copy: the caller may overwrite its array

    def invoke(self):
        self._alive()
        try:
            self._engine.execute()
        except Exception as error:
            self._last_error = type(error).__name__
            raise RunError("the run failed") from error  # no text of the runtime's: it may name another task

    def fetch(self):
        self._alive()
        outputs = {"y": self._engine.output.copy()}  # the caller owns it
        check_outputs(self.contract, outputs)
        return outputs

    def counters(self):
        live = 0 if self._engine is None else 1
        return Counters(live_contexts=live, registered_buffers=live, live_delegates=live, last_error=self._last_error)

    def close(self):
        self._engine = None

    def _alive(self):
        if self._engine is None:
            raise SessionClosedError("the session is closed")
