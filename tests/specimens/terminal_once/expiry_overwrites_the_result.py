"""The deadline's timer sets the error without a look at what is there already.
A client that has its answer is told a moment later that the request had expired.
The twin leaves a task alone that has ended.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]
EndingFuture = parts["EndingFuture"]

INVARIANT = "terminal-once"
SCENARIOS = ("expiry-races-completion",)


class Overwriting(EndingFuture):
    def end(self, error):
        with self._condition:
            self._exception = error
            self._state = "FINISHED"
            self._condition.notify_all()
        return True


class OverwritingQueue(ContractQueue):
    def make_future(self):
        return Overwriting()


specimen, twin = OverwritingQueue, ContractQueue
