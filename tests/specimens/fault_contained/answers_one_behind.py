"""Answers go to the requests in the order in which they come, and a run that cannot be read gives none.
From then on everybody gets the answer of the next.
The twin knows whose run it was.
"""

from collections import deque
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("fetch-failure",)


class Pairing(BoundedQueue):
    def prepare(self):
        self.asked = deque()

    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        self.asked.append(future)
        call = session.call(inputs)
        call.bind()
        call.invoke()
        try:
            outputs = call.fetch()
        except Exception as error:  # noqa: BLE001 - an outcome
            self.unread(error)
            return
        self.asked.popleft().set_result(outputs)

    def unread(self, error):
        self.asked.popleft().set_exception(error)


class Waiting(Pairing):
    def unread(self, error):
        self.error = error


specimen, twin = Waiting, Pairing
