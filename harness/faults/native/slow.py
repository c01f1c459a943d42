"""One run is slow inside native code."""

from harness.faults.fault import Fault, Hit, NativeStrike, Scope

__all__ = ["NATIVE_SLOW"]

_SECONDS = 5.0


def _strike(hit: Hit) -> None:
    hit.sleep(_SECONDS)


NATIVE_SLOW = Fault(
    name="native-slow",
    point="invoke",
    says="one run takes 5 virtual seconds, and 20 real milliseconds inside native code, then succeeds",
    scope=Scope.REQUEST,
    strike=_strike,
    native=NativeStrike("slow", "invoke"),
)
