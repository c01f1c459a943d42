"""A session is rebuilt after a run that failed with an error that nobody knows, and this one is known.
So the next requests run on a context that is gone.
The twin rebuilds after any failure of the runtime.
"""

from pathlib import Path
from runpy import run_path

from adapters.base import RunError

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("context-lost",)


class Rebuilding(ContractQueue):
    capabilities = ContractQueue.capabilities | {"lifecycle"}

    def open_sessions(self, open_session):
        self.open_session = open_session
        return super().open_sessions(open_session)

    def serve(self, session):
        while (task := self.take()) is not None:
            self.failed = None
            self.run(session, *task)
            if self.failed is not None and self.in_doubt(self.failed):
                session = self.rebuilt(session)
        self.release(session)

    def settle(self, future, outputs, error):
        self.failed = error
        super().settle(future, outputs, error)

    def in_doubt(self, error):
        return isinstance(error, Exception)

    def rebuilt(self, session):
        self.config.observer.slot(0, "quarantined")
        session.close()
        self.config.observer.slot(0, "rebuilding")
        session = self.open_session()
        self.config.observer.slot(0, "ready")
        return session


class Trusting(Rebuilding):
    def in_doubt(self, error):
        return not isinstance(error, RunError)


specimen, twin = Trusting, Rebuilding
