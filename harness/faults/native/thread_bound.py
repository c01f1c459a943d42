"""Native code that is bound to its thread, as GPU contexts are."""

from harness.faults.fault import Fault, Lasts, NativeStrike, Scope

__all__ = ["NATIVE_THREAD_BOUND"]

NATIVE_THREAD_BOUND = Fault(
    name="native-thread-bound",
    point="session-open",
    says="native code runs on the thread that opened the session alone, now and later",
    scope=Scope.CONTEXT,
    lasts=Lasts.FOR_GOOD,
    native=NativeStrike("bind-threads", "create"),
)
