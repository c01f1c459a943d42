"""Workers look whether the queue is empty and then get without a time-out.
Two of them see the same last task at close, and one waits for ever.
The twin gets without blocking.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]
open_all = parts["open_all"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-from-two-threads",)
SLOTS = 2


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.tasks = Queue()
        self.work = threading.Semaphore(0)
        self.lock = threading.Lock()
        self.open = True
        self.threads = [
            threading.Thread(target=self.serve, args=(session,)) for session in open_all(open_session, self.workers)
        ]
        for thread in self.threads:
            thread.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        self.work.release()
        return future

    def serve(self, session):
        while self.open:
            self.work.acquire()
            self.work_off(session)
        self.work_off(session)
        session.close()

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, session.run, inputs)

    def close(self):
        with self.lock:
            self.open = False
        self.work.release(self.workers)
        for thread in self.threads:
            thread.join()


class Checked(Pool):
    def work_off(self, session):
        while not self.tasks.empty():
            self.run(session, *self.tasks.get())


class Tried(Pool):
    def work_off(self, session):
        while True:
            try:
                task = self.tasks.get_nowait()
            except Empty:
                return
            self.run(session, *task)


specimen, twin = Checked, Tried
