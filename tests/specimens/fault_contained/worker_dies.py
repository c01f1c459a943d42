"""The worker catches what a run raises, but only exceptions: `sys.exit` in a hook of the runtime ends the thread.
Nobody serves what waits behind that task.
The twin catches everything that comes out of a run.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("worker-death",)


class Outliving(BoundedQueue):
    def run(self, session, inputs, future):
        try:
            super().run(session, inputs, future)
        except BaseException as error:  # noqa: BLE001 - the worker outlives whatever comes out of a run
            future.set_exception(error)


specimen, twin = BoundedQueue, Outliving
