"""What has waited for an hour is of no interest any more, and is dropped as expired, whether it had a deadline or not.
A device that slept for the night drops everything.
The twin drops what had a deadline.
"""

import math
import time
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "expires-on-time"
SCENARIOS = ("clock-jump",)


class Dropping(ContractQueue):
    def submit(self, inputs, **options):
        future = super().submit(inputs, **options)
        future.since = time.monotonic()
        return future

    def run(self, session, request):
        future = request.callers[0]
        if time.monotonic() - getattr(future, "since", math.inf) > 3600:
            self.expire(request)
        super().run(session, request)


specimen, twin = Dropping, ContractQueue
