"""A timer that keeps a spare session warm is not stopped at close.
It fires afterwards and loads the model again: memory that nobody gives back.
The twin cancels the timer and waits for it.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "closed-rejects"
SCENARIOS = ("submit-after-close",)


class Warm(BoundedQueue):
    def __init__(self, open_session, config):
        self.spare = None
        self.timer = threading.Timer(1.0, self.warm_up, args=(open_session,))
        super().__init__(open_session, config)
        self.timer.start()

    def warm_up(self, open_session):
        self.spare = open_session()

    def close(self):
        super().close()
        self.stop_timer()
        with self.changed:
            if self.spare is not None:
                self.spare.close()
            self.spare = None


class Outliving(Warm):
    def stop_timer(self):
        pass


class Stopped(Warm):
    def stop_timer(self):
        self.timer.cancel()
        self.timer.join()


specimen, twin = Outliving, Stopped
