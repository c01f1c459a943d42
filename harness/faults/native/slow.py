"""One run is slow inside native code. When it returns is a choice of the schedule, as when a time-out fires."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_SLOW"]

NATIVE_SLOW = Fault(
    name="native-slow",
    point="invoke",
    says="one run is held inside native code for 5 virtual seconds, then succeeds",
    scope=Scope.REQUEST,
    native=NativeStrike("hang", "invoke", seconds=5.0),
)
