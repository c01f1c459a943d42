"""tensorflow/tensorflow 27839: an interpreter is closed on one thread while another one runs it.
The application leaves the screen, `close` drops what waits and frees the interpreter under the last frame.
The twin lets that frame end.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "release-after-drain"
SCENARIOS = ("close-during-run",)


class Screen:
    def __init__(self, open_session, config):
        self.interpreter = open_session()
        self.executor = ThreadPoolExecutor(1)
        self.lock = threading.Lock()

    def submit(self, inputs):
        return self.executor.submit(self.interpreter.run, {name: array.copy() for name, array in inputs.items()})

    def close(self):
        with self.lock:
            self.executor.shutdown(wait=self.waits, cancel_futures=True)
            if self.interpreter is not None:
                self.interpreter.close()
            self.interpreter = None


class Left(Screen):
    waits = False


class Ended(Screen):
    waits = True


specimen, twin = Left, Ended
