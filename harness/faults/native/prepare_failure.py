"""A native delegate does not take the graph, or a native operator gets no kernel."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_PREPARE_FAILURE"]

NATIVE_PREPARE_FAILURE = Fault(
    name="native-prepare-failure",
    point="session-open",
    says="the native delegate does not take the graph, or the operator gets no kernel, once; the fallback is sound",
    scope=Scope.CONTEXT,
    spares_fallback=True,
    native=NativeStrike("fail", "prepare"),
)
