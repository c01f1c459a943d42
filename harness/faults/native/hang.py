"""One run is held at a gate inside native code. No interrupt reaches it there, as with a kernel that runs away."""

from harness.faults.fault import Fault, NativeStrike, Scope

__all__ = ["NATIVE_HANG"]

NATIVE_HANG = Fault(
    name="native-hang",
    point="invoke",
    says="one run is held inside native code until nobody else can move",
    scope=Scope.CONTEXT,
    native=NativeStrike("hang", "invoke"),
)
