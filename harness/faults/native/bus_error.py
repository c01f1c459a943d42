"""Native code reads a page of a file that was cut off while it was mapped."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_BUS_ERROR"]

NATIVE_BUS_ERROR = Fault(
    name="native-bus-error",
    point="invoke",
    says="native code reads a mapped file that was cut off in one run, and the process dies of SIGBUS",
    scope=Scope.PROCESS,
    kills=True,
    native=NativeStrike("bus", "invoke"),
)
