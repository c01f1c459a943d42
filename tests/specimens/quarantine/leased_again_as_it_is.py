"""A failed run leaves the slot in a state that nobody knows, the service says so, and leases it to the next task.
What the device still writes reaches that task.
The twin opens the slot anew.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "quarantine"
SCENARIOS = ("failing-run-with-others-waiting",)


class Leasing(ContractQueue):
    def open_sessions(self, open_session):
        self.open_session = open_session
        return super().open_sessions(open_session)

    def serve(self, session):
        while (task := self.take()) is not None:
            self.config.observer.leased(0, task[0].callers[0])
            self.failed = False
            self.run(session, *task)
            self.config.observer.returned(0)
            if self.failed:
                session = self.renew(session)
        self.release(session)

    def settle(self, future, outputs, error):
        self.failed = error is not None
        super().settle(future, outputs, error)

    def renew(self, session):
        self.config.observer.slot(0, "quarantined")
        return session


class Rebuilding(Leasing):
    def renew(self, session):
        super().renew(session)
        session.close()
        self.config.observer.slot(0, "rebuilding")
        session = self.open_session()
        self.config.observer.slot(0, "ready")
        return session


specimen, twin = Leasing, Rebuilding
