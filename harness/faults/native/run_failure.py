"""One run fails inside native code."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_RUN_FAILURE"]

NATIVE_RUN_FAILURE = Fault(
    name="native-run-failure",
    point="invoke",
    says="one run fails inside native code",
    scope=Scope.REQUEST,
    native=NativeStrike("fail", "invoke"),
)
