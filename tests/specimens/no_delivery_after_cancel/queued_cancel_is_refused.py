"""A task counts as running from the moment it was accepted.
Nobody can cancel a request that has not even started.
The twin marks it running when a worker takes it.
"""

from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "no-delivery-after-cancel"
SCENARIOS = ("queued-cancel",)


class AtOnce(BoundedQueue):
    def make_future(self):
        future = Future()
        future.set_running_or_notify_cancel()
        return future

    def run(self, session, inputs, future):
        settle(future, session.run, inputs)


specimen, twin = AtOnce, BoundedQueue
