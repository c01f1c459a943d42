"""OHF-Voice/wyoming-faster-whisper 38: after one request that the model rejects the server has to be started again.
What a bad request raises ends the loop that serves everybody.
The twin answers that request with the error.
"""

import threading
from concurrent.futures import Future
from queue import SimpleQueue

INVARIANT = "terminal-once"
SCENARIOS = ("malformed-input",)


class Server:
    def __init__(self, open_session, config):
        self.requests = SimpleQueue()
        self.lock = threading.Lock()
        self.open = True
        self.loop = threading.Thread(target=self.serve, args=(open_session(),))
        self.loop.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            self.requests.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        try:
            while request := self.requests.get():
                inputs, future = request
                if future.set_running_or_notify_cancel():
                    self.answer(session, inputs, future)
        finally:
            session.close()

    def close(self):
        with self.lock:
            if self.open:
                self.requests.put(None)
            self.open = False
        self.loop.join()


class Ended(Server):
    def answer(self, session, inputs, future):
        future.set_result(session.run(inputs))


class Guarded(Server):
    def answer(self, session, inputs, future):
        try:
            future.set_result(session.run(inputs))
        except Exception as error:  # noqa: BLE001 - a failed run is its task's outcome
            future.set_exception(error)


specimen, twin = Ended, Guarded
