"""triton-inference-server/server 3929: every response of a batch is the last one.
The responses of a batch are all the same object, filled anew for each request.
The twin makes a response for each request.
"""

from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "own-output"
SCENARIOS = ("many-clients",)


class Batching(BoundedQueue):
    def serve(self, session):
        while (first := self.take()) is not None:
            with self.changed:
                batch = [first, *self.waiting]
                self.waiting.clear()
            self.execute(session, [task for task in batch if task[1].set_running_or_notify_cancel()])
        session.close()

    def execute(self, session, batch):
        response, responses = {}, []
        for inputs, _ in batch:
            response = self.next_response(response)
            run = Future()
            settle(run, session.run, inputs)
            if run.exception() is None:
                response.update(run.result())
            responses.append((run, response))
        for (_, future), (run, each) in zip(batch, responses, strict=True):
            settle(future, lambda run=run, each=each: run.result() and each)


class OneObject(Batching):
    def next_response(self, response):
        return response


class OneEach(Batching):
    def next_response(self, response):
        return {}


specimen, twin = OneObject, OneEach
