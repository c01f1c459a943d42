"""An answer like the one before means that the device hangs. The session is thrown away, with the run that it is in.
One stale answer fails a good request.
The twin throws the session away before it takes the next request.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("stale-output",)


class Watching(BoundedQueue):
    def prepare(self):
        self.last = None
        self.suspect = False

    def open_sessions(self, open_session):
        self.open_session = open_session
        return super().open_sessions(open_session)

    def serve(self, session):
        while (task := self.take()) is not None:
            session = self.check(session)
            self.run(session, *task)
        self.release(session)

    def check(self, session):
        if self.suspect:
            self.suspect = False
            session.close()
            return self.open_session()
        return session

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            self.answer(session.run(inputs), future)

    def answer(self, outputs, future):
        digest = b"".join(outputs[name].tobytes() for name in sorted(outputs))
        self.suspect, self.last = digest == self.last, digest
        future.set_result(outputs)


class Impatient(Watching):
    def check(self, session):
        return session

    def answer(self, outputs, future):
        if self.suspect:
            self.suspect = False
            future.set_exception(RuntimeError("the session was thrown away"))
            return
        super().answer(outputs, future)


specimen, twin = Impatient, Watching
