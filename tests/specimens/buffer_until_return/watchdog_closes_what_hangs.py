"""A watchdog gives a run two seconds. Then it fails the task, closes the session and opens another.
The device still writes into what was released.
The twin waits for the call to return.
"""

import contextlib
import threading
from concurrent.futures import InvalidStateError
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "buffer-until-return"
SCENARIOS = ("lost-fence",)


class Waiting(BoundedQueue):
    def open_sessions(self, open_session):
        self.open_session = open_session
        return super().open_sessions(open_session)

    def serve(self, session):
        while (task := self.take()) is not None:
            session = self.watched(session, *task)
        self.release(session)

    def watched(self, session, inputs, future):
        self.run(session, inputs, future)
        return session


class Closing(Waiting):
    def watched(self, session, inputs, future):
        runner = threading.Thread(target=self.try_run, args=(session, inputs, future), daemon=True)
        runner.start()
        runner.join(2.0)
        if not runner.is_alive():
            return session
        with contextlib.suppress(InvalidStateError):
            future.set_exception(RuntimeError("the run took too long"))
        session.close()
        return self.open_session()

    def try_run(self, session, inputs, future):
        with contextlib.suppress(InvalidStateError):
            self.run(session, inputs, future)


specimen, twin = Closing, Waiting
