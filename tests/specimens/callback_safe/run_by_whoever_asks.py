"""Callbacks are kept until somebody asks for the result, and are run on that client's thread.
The user interface stands still while another client's work is done.
The twin runs them on the worker.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]
EndingFuture = parts["EndingFuture"]

INVARIANT = "callback-safe"
SCENARIOS = ("callback-waits-for-another-client", "callback-reenters")


class Lazy(EndingFuture):
    def _invoke_callbacks(self):
        pass

    def result(self, timeout=None):
        try:
            return super().result(timeout)
        finally:
            if self.done():
                callbacks, self._done_callbacks = self._done_callbacks, []
                for callback in callbacks:
                    callback(self)


class LazyQueue(ContractQueue):
    def make_future(self):
        return Lazy()


specimen, twin = LazyQueue, ContractQueue
