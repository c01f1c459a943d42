"""A CPU session is opened first, for the case that the delegate fails, and when that happens another one is opened.
The first is never released.
The twin opens a fallback when it needs one.
"""

from pathlib import Path
from runpy import run_path

from adapters.base import DelegateInitError

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "close-once"
SCENARIOS = (
    "compile-timeout",
    "delegate-create-failure",
    "delegate-prepare-failure",
)


class Falling(BoundedQueue):
    capabilities = frozenset({"overflow:reject", "fallback"})

    def __init__(self, open_session, config):
        self.prefers = config.delegate == "prefer"
        super().__init__(open_session, config)

    def open_sessions(self, open_session):
        try:
            return [open_session()]
        except DelegateInitError:
            if not self.prefers:
                raise
            return [open_session(fallback=True)]


class Insured(Falling):
    def open_sessions(self, open_session):
        if not self.prefers:
            return super().open_sessions(open_session)
        insurance = open_session(fallback=True)
        try:
            sessions = [open_session()]
        except DelegateInitError:
            return [open_session(fallback=True)]
        insurance.close()
        return sessions


specimen, twin = Insured, Falling
