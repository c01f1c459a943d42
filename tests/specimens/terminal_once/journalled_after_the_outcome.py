"""The client has its answer before the journal hears that the task is finished.
Killed in between, the next process sends the order a second time.
The twin tells the journal first.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "journal_parts.py"))
JournalledQueue = parts["JournalledQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("killed-and-resumed",)


class After(JournalledQueue):
    def end(self, future, outputs, error):
        if error is None:
            future.set_result(outputs)
        else:
            future.set_exception(error)
        self.finish(future)


specimen, twin = After, JournalledQueue
