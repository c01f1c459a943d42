"""Native code computes wrong values."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_WRONG_OUTPUT"]

NATIVE_WRONG_OUTPUT = Fault(
    name="native-wrong-output",
    point="invoke",
    says="native code computes values that are one too high, in the middle of the graph",
    scope=Scope.REQUEST,
    native=NativeStrike("wrong", "invoke"),
)
