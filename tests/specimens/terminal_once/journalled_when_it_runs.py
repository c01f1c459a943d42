"""The journal hears of a task when its run begins, which saves a write for every request.
What was accepted and still waited is forgotten when the process is killed.
The twin journals it before it is accepted.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "journal_parts.py"))
JournalledQueue = parts["JournalledQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("killed-and-resumed",)
digest = parts["digest"]


class Late(JournalledQueue):
    def enter(self, taken, future):
        pass

    def withdraw(self, future):
        pass

    def run(self, session, inputs, future):
        if future.payload_ref is not None:
            self.journal.accepted(future.payload_ref, digest(inputs))
        super().run(session, inputs, future)


specimen, twin = Late, JournalledQueue
