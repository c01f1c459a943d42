"""Closing with a deadline drains for as long as it takes.
A page that closes waits for the whole queue behind a stuck device.
The twin drops what still waits when the time is over.
"""

import time
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("close-with-deadline",)


class Draining(ContractQueue):
    capabilities = ContractQueue.capabilities | {"drain", "close-deadline"}

    def close(self, *, drain=True, deadline=None):
        if not drain:
            self.drop_waiting()
        self.until(deadline)
        super().close()

    def until(self, deadline):
        pass

    def drop_waiting(self):
        with self.changed:
            self.closing = True
            dropped = list(self.waiting)
            self.waiting.clear()
            self.changed.notify_all()
        for request in dropped:
            for future in request.callers:
                future.cancel()


class Limited(Draining):
    def until(self, deadline):
        if deadline is not None:
            with self.changed:
                self.closing = True
                self.changed.notify_all()
            self.clock.at(time.monotonic() + deadline, self.drop_waiting)


specimen, twin = Draining, Limited
