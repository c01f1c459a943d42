"""The prepared asset was made by another version of the runtime, and does not load."""

from adapters.base import ModelLoadError
from harness.faults.fault import Fault, Hit, Lasts, Scope

__all__ = ["PREPARED_ASSET_MISMATCH", "PreparedAssetError"]


class PreparedAssetError(ModelLoadError):
    """The prepared asset is of another runtime version."""


def _strike(hit: Hit) -> None:
    del hit
    message = "injected: the prepared asset is of another runtime version"
    raise PreparedAssetError(message)


PREPARED_ASSET_MISMATCH = Fault(
    name="prepared-asset-mismatch",
    point="session-open",
    says="a prepared asset is of another runtime version, and no session opens with it; the fallback path needs none",
    scope=Scope.CONTEXT,
    strike=_strike,
    lasts=Lasts.FOR_GOOD,
    spares_fallback=True,
)
