"""The worker keeps no session: each run looks the current one up, and the switch, on the client's thread, replaces it.
The task that the worker has in hand runs on the new model although it came before the switch.
The twin changes over on the worker, between two tasks.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]

INVARIANT = "one-version"
SCENARIOS = ("switch-under-load",)


class LookedUp(SwitchingQueue):
    def prepare(self):
        super().prepare()
        self.newest = None
        self.replaced = []

    def place(self, switch):
        newer = switch.open_session()
        self.replaced.append(newer)
        self.newest, self.version = newer, switch.version
        switch.done.set_result(None)

    def run(self, session, inputs, future):
        super().run(self.newest or session, inputs, future)

    def release(self, session):
        for each in (session, *self.replaced):
            each.close()


specimen, twin = LookedUp, SwitchingQueue
