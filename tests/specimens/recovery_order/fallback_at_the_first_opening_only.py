"""The declared fallback is looked at when the service opens, and a rebuild asks for the delegate alone.
A delegate that does not come back takes the service with it.
The twin rebuilds by the policy that it opened by.
"""

from pathlib import Path
from runpy import run_path

from adapters.base import AdapterError

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringQueue = parts["RecoveringQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("rebuilt-on-the-fallback",)


class Falling(RecoveringQueue):
    capabilities = RecoveringQueue.capabilities | {"fallback"}

    def replace(self, place):
        place.session.close()
        place.session = self.open_by_policy()

    def open_by_policy(self):
        try:
            return self.open_session()
        except AdapterError:
            if self.config.delegate != "prefer":
                raise
        return self.open_session(fallback=True)


class Once(Falling):
    def replace(self, place):
        place.session.close()
        try:
            place.session = self.open_session()
        except AdapterError as error:
            place.session = Gone(error)


class Gone:
    """What stands where a session was."""

    def __init__(self, error):
        self.error = error

    def run(self, _inputs):
        raise self.error

    def close(self):
        """Nothing is left to close."""


specimen, twin = Once, Falling
