"""A run whose task has expired is given up: a new thread serves the session.
The runtime still reads the old input while the next one is bound.
The twin waits for the native call.
"""

import math
import threading
from concurrent.futures import wait
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "buffer-until-return"
SCENARIOS = ("deadline-while-running",)


class GivingUp(ContractQueue):
    def run(self, session, request):
        expires = request.due < math.inf
        call = threading.Thread(target=super().run, args=(session, request))
        call.start()
        self.calls.append(call)
        if expires:
            wait(request.callers)
        else:
            call.join()

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
