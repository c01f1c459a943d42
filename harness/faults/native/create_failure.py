"""A native delegate is not created, or a native operator not registered."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_CREATE_FAILURE"]

NATIVE_CREATE_FAILURE = Fault(
    name="native-create-failure",
    point="session-open",
    says="the native delegate is not created, or the operator does not register, once; the fallback is sound",
    scope=Scope.CONTEXT,
    spares_fallback=True,
    native=NativeStrike("fail", "create"),
)
