"""Native code computes NaN."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_NAN_OUTPUT"]

NATIVE_NAN_OUTPUT = Fault(
    name="native-nan-output",
    point="invoke",
    says="native code computes NaN in the middle of the graph",
    scope=Scope.REQUEST,
    native=NativeStrike("nan", "invoke"),
)
