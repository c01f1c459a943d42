"""Each request has a session of its own, and its outcome comes after that has been released.
A release that fails fails a request that was answered.
The twin gives the answer first.
"""

import contextlib
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("close-failure",)


class Answering(BoundedQueue):
    def open_sessions(self, open_session):
        self.open_session = open_session
        return [None]

    def release(self, session):
        assert session is None, "each request has its own"

    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        session = self.open_session()
        future.set_result(session.run(inputs))
        with contextlib.suppress(Exception):
            session.close()


class Releasing(Answering):
    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        session = self.open_session()
        try:
            outputs = session.run(inputs)
            session.close()
        except Exception as error:  # noqa: BLE001 - an outcome
            future.set_exception(error)
        else:
            future.set_result(outputs)


specimen, twin = Releasing, Answering
