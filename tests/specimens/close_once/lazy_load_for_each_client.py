"""A service that opens at the first request lets every first request open.
The model is loaded as often as clients come at once, and all but one copy is thrown away.
The twin lets one of them load, and the others wait.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
Clock = parts["Clock"]
ContractQueue = parts["ContractQueue"]

INVARIANT = "close-once"
SCENARIOS = ("lazy-open",)


class LoadsOnce(ContractQueue):
    capabilities = ContractQueue.capabilities | {"lifecycle"}

    def open_sessions(self, open_session):
        self.open_session = open_session
        self.loading = threading.Lock()
        self.sessions = []
        self.clock = Clock()
        return [None]

    def submit(self, inputs, **options):
        self.load()
        return super().submit(inputs, **options)

    def load(self):
        with self.loading:
            if not self.sessions and not self.closing:
                self.sessions.append(self.open_session())

    def run(self, session, request):
        super().run(self.sessions[0], request)

    def release(self, session):
        with self.loading:
            for each in self.sessions:
                each.close()


class LoadsEach(LoadsOnce):
    def load(self):
        if not self.sessions:
            self.sessions.append(self.open_session())


specimen, twin = LoadsEach, LoadsOnce
