"""The clocks jump, as after a suspend."""

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["CLOCK_JUMP"]

JUMP_SECONDS = 3 * 3600.0


def _strike(hit: Hit) -> None:
    hit.jump(JUMP_SECONDS)


CLOCK_JUMP = Fault(
    name="clock-jump",
    point="invoke",
    says="every clock jumps 3 hours ahead during one run",
    scope=Scope.PROCESS,
    strike=_strike,
)
