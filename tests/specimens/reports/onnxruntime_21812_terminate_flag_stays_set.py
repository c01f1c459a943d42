"""microsoft/onnxruntime 21812: a run is asked to terminate as the session goes, and later runs are blocked by that.
The flag that ends a run belongs to the service and is never cleared: after one cancel every request fails.
The twin has a flag for each run.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
RunningCancelFuture = parts["RunningCancelFuture"]
CancellingQueue = parts["CancellingQueue"]
settle_unless_cancelled = parts["settle_unless_cancelled"]

INVARIANT = "terminal-once"
SCENARIOS = ("cancel-spares-the-next",)


class TerminatedError(Exception):
    pass


class RunOptions:
    def __init__(self):
        self.terminate = False


class Terminating(RunningCancelFuture):
    def __init__(self, options):
        super().__init__()
        self.options = options

    def cancel(self):
        if self.running():
            self.options.terminate = True
        return super().cancel()


class Queue(CancellingQueue):
    def prepare(self):
        self.options = RunOptions()

    def make_future(self):
        return Terminating(self.options_of_a_run())

    def run(self, session, inputs, future):
        if future.start():
            settle_unless_cancelled(future, self.infer, session, inputs, future.options)

    def infer(self, session, inputs, options):
        if options.terminate:
            raise TerminatedError
        outputs = session.run(inputs)
        if options.terminate:
            raise TerminatedError
        return outputs


class OneForAll(Queue):
    def options_of_a_run(self):
        return self.options


class OneEach(Queue):
    def options_of_a_run(self):
        return RunOptions()


specimen, twin = OneForAll, OneEach
