"""Native code gives what it gave before."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_STALE_OUTPUT"]

NATIVE_STALE_OUTPUT = Fault(
    name="native-stale-output",
    point="invoke",
    says="native code gives what the same kernel gave the run before",
    scope=Scope.REQUEST,
    needs_previous=True,
    native=NativeStrike("stale", "invoke"),
)
