"""A cancelled run is given up, and the next task is bound to its session at once.
The output of the old call lands in the buffers of the new one.
The twin waits for the native call.
"""

import threading
from concurrent.futures import wait
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "buffer-until-return"
SCENARIOS = ("running-cancel",)


class GivingUp(ContractQueue):
    def run(self, session, request):
        call = threading.Thread(target=super().run, args=(session, request))
        call.start()
        self.calls.append(call)
        wait(request.callers)

    def prepare(self):
        self.calls = []

    def release(self, session):
        for call in self.calls:
            call.join()
        super().release(session)


class Waiting(GivingUp):
    def run(self, session, request):
        super().run(session, request)
        self.calls[-1].join()


specimen, twin = GivingUp, Waiting
