"""Lightning-AI/LitServe 165: requests whose client has gone are run all the same.
A request that was cancelled in the queue is marked so, and the device works on it nevertheless.
The twin skips it.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
CancellingQueue = parts["CancellingQueue"]
settle_unless_cancelled = parts["settle_unless_cancelled"]

INVARIANT = "no-delivery-after-cancel"
SCENARIOS = ("queued-cancel",)


class Running(CancellingQueue):
    def run(self, session, inputs, future):
        future.start()
        settle_unless_cancelled(future, session.run, inputs)


specimen, twin = Running, CancellingQueue
