"""The deadline's timer sets its error on a task that was cancelled, too.
`cancel()` had answered True, and the client is told that the request expired.
The twin leaves a task alone that has ended.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]
EndingFuture = parts["EndingFuture"]

INVARIANT = "no-delivery-after-cancel"
SCENARIOS = ("expiry-races-cancel",)


class Overwriting(EndingFuture):
    def end(self, error):
        with self._condition:
            if self._state == "FINISHED":
                return False
            self._exception = error
            self._state = "FINISHED"
            self._condition.notify_all()
        return True


class OverwritingQueue(ContractQueue):
    def make_future(self):
        return Overwriting()


specimen, twin = OverwritingQueue, ContractQueue
