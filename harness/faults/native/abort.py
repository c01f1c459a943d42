"""Native code aborts the process."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_ABORT"]

NATIVE_ABORT = Fault(
    name="native-abort",
    point="invoke",
    says="native code calls abort() in one run, and the process dies of SIGABRT",
    scope=Scope.PROCESS,
    kills=True,
    native=NativeStrike("abort", "invoke"),
)
