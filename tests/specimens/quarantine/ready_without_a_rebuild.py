"""The slot is quarantined for a moment, called ready again, and nothing was done to it.
The next task runs on what the failed one left.
The twin opens the slot anew.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "quarantine"
SCENARIOS = ("failing-run-with-others-waiting",)


class Renaming(ContractQueue):
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
                self.config.observer.slot(0, "quarantined")
                session = self.renew(session)
                self.config.observer.slot(0, "ready")
        self.release(session)

    def settle(self, future, outputs, error):
        self.failed = error is not None
        super().settle(future, outputs, error)

    def renew(self, session):
        return session


class Rebuilding(Renaming):
    def renew(self, session):
        session.close()
        return self.open_session()


specimen, twin = Renaming, Rebuilding
