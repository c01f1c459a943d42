"""The worker checks with `if`, not `while`, after it was notified; a cancel may have taken the task back meanwhile.
It pops from an empty queue, dies, and nobody is served any more.
The twin looks again until there is something.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "terminal-once"
SCENARIOS = ("cancel-races-completion",)


class Withdrawn(Future):
    """A waiting task that is cancelled leaves the queue."""

    def __init__(self, service):
        super().__init__()
        self.service = service

    def cancel(self):
        with self.service.changed:
            waiting = self.service.waiting
            if not super().cancel():
                return False
            waiting[:] = [task for task in waiting if task[1] is not self]  # `remove` would compare arrays
            return True


class ConditionQueue:
    def __init__(self, open_session, config):
        self.changed = threading.Condition()
        self.waiting = []
        self.closing = False
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Withdrawn(self)
        with self.changed:
            if self.closing:
                raise RuntimeError
            self.waiting.append(({name: array.copy() for name, array in inputs.items()}, future))
            self.changed.notify()
        return future

    def serve(self, session):
        while True:
            with self.changed:
                self.wait()
                if self.closing and not self.waiting:
                    break
                inputs, future = self.waiting.pop(0)
                future.set_running_or_notify_cancel()
            settle(future, session.run, inputs)
        session.close()

    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        self.worker.join()


class If(ConditionQueue):
    def wait(self):
        if not self.waiting and not self.closing:
            self.changed.wait()


class While(ConditionQueue):
    def wait(self):
        while not self.waiting and not self.closing:
            self.changed.wait()


specimen, twin = If, While
