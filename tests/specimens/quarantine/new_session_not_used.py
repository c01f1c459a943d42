"""After a failed run a new session is opened, and the variable of the loop still holds the old one.
On a device that was reset nothing runs any more.
The twin goes on with the new session.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "quarantine"
SCENARIOS = ("device-reset",)


class Rebuilding(ContractQueue):
    capabilities = ContractQueue.capabilities | {"lifecycle"}

    def open_sessions(self, open_session):
        self.open_session = open_session
        return super().open_sessions(open_session)

    def serve(self, session):
        while (task := self.take()) is not None:
            self.failed = False
            self.run(session, *task)
            if self.failed:
                session = self.rebuilt(session)
        self.release(session)

    def settle(self, future, outputs, error):
        self.failed = error is not None
        super().settle(future, outputs, error)

    def rebuilt(self, session):
        self.config.observer.slot(0, "quarantined")
        session = self.replaced(session)
        self.config.observer.slot(0, "ready")
        return session

    def replaced(self, session):
        session.close()
        return self.open_session()


class Forgetting(Rebuilding):
    def replaced(self, session):
        self.open_session().close()
        return session


specimen, twin = Forgetting, Rebuilding
