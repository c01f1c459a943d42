"""The device is reset: no session that was open runs any more."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Lasts, Scope

__all__ = ["DEVICE_RESET", "DeviceResetError"]


class DeviceResetError(RunError):
    """The device was reset under the session: only a new one helps."""


def _strike(hit: Hit) -> None:
    message = f"injected: the device was reset [{hit.task}]"
    raise DeviceResetError(message)


DEVICE_RESET = Fault(
    name="device-reset",
    point="invoke",
    says="the device is reset: no session that was open then runs any more, until it is rebuilt",
    scope=Scope.DEVICE,
    strike=_strike,
    lasts=Lasts.DEVICE,
)
