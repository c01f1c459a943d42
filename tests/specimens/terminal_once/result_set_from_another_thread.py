"""A worker thread sets the result of an `asyncio.Future` itself. That schedules the coroutine, and wakes no loop:
one that sleeps in its selector sleeps on, and whoever waits for the task waits with it.
The twin has the loop set it, by `call_soon_threadsafe`.
"""

import queue
import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "asyncio_parts.py"))
LoopService = parts["LoopService"]

INVARIANT = "terminal-once"
SCENARIOS = ("many-clients", "cancel-while-running")


class Worked(LoopService):
    def prepare(self, open_session):
        self.session = open_session()
        self.tasks = queue.Queue()
        self.worker = threading.Thread(target=self.serve)
        self.worker.start()

    async def run(self, inputs):
        told = self.loop.create_future()
        self.tasks.put((inputs, told))
        return await told

    def serve(self):
        while (task := self.tasks.get()) is not None:
            inputs, told = task
            try:
                self.tell(told, told.set_result, self.session.run(inputs))
            except Exception as error:  # noqa: BLE001 - a failed run is its task's outcome
                self.tell(told, told.set_exception, error)
        self.session.close()

    def release(self):
        self.tasks.put(None)
        self.worker.join()


class FromTheWorker(Worked):
    def tell(self, told, settle, value):
        if not told.done():
            settle(value)


class FromTheLoop(Worked):
    def tell(self, told, settle, value):
        self.loop.call_soon_threadsafe(lambda: None if told.done() else settle(value))


specimen, twin = FromTheWorker, FromTheLoop
