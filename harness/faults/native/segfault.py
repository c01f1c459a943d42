"""Native code writes where nothing is mapped."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_SEGFAULT"]

NATIVE_SEGFAULT = Fault(
    name="native-segfault",
    point="invoke",
    says="native code writes to an address that is not there in one run, and the process dies of SIGSEGV",
    scope=Scope.PROCESS,
    kills=True,
    native=NativeStrike("segfault", "invoke"),
)
