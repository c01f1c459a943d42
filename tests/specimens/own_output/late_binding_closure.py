"""The closure handed to the executor reads `self.inputs` when it runs, not when it was made.
Two users who submit in quick succession both get the second one's answer.
The twin hands the inputs over as an argument.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "own-output"
SCENARIOS = ("many-clients",)


class Service:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.executor = ThreadPoolExecutor(1)
        self.closing = threading.Lock()
        self.closed = False

    def close(self):
        self.executor.shutdown()
        with self.closing:
            if not self.closed:
                self.session.close()
                self.closed = True


class LateBinding(Service):
    def submit(self, inputs):
        self.inputs = {name: array.copy() for name, array in inputs.items()}
        return self.executor.submit(lambda: self.session.run(self.inputs))


class Argument(Service):
    def submit(self, inputs):
        return self.executor.submit(self.session.run, {name: array.copy() for name, array in inputs.items()})


specimen, twin = LateBinding, Argument
