"""Services that serve their own clients well after a failure and harm another process, each with an honest twin."""

import threading
from collections import deque
from concurrent.futures import Future

from device import DEVICE, MODE


class Queue:
    """A worker, a session, and a step of its own around each run."""

    capabilities = frozenset()

    def __init__(self, open_session, _config):
        self.waiting = deque()
        self.changed = threading.Condition()
        self.closing = False
        self.session = open_session()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def submit(self, inputs):
        future = Future()
        with self.changed:
            if self.closing:
                raise RuntimeError
            self.waiting.append(({name: array.copy() for name, array in inputs.items()}, future))
            self.changed.notify()
        return future

    def serve(self):
        while (task := self.take()) is not None:
            inputs, future = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                outputs = self.run(inputs)
            except Exception as error:  # noqa: BLE001 - a failed run is its task's outcome
                future.set_exception(error)
            else:
                future.set_result(outputs)
        self.session.close()

    def take(self):
        with self.changed:
            while not self.waiting and not self.closing:
                self.changed.wait()
            return self.waiting.popleft() if self.waiting else None

    def run(self, inputs):
        return self.session.run(inputs)

    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        self.thread.join()


class LocksTheDevice(Queue):
    """Holds the device around each run."""

    def run(self, inputs):
        with DEVICE:
            return super().run(inputs)


class KeepsTheLock(Queue):
    """As its twin, but does not give the device back when a run fails."""

    def run(self, inputs):
        DEVICE.__enter__()
        outputs = super().run(inputs)
        DEVICE.__exit__()
        return outputs


class RestoresTheMode(Queue):
    """Tries what failed again in the other mode, takes the scale out of the result, and puts the mode back."""

    def run(self, inputs):
        try:
            return super().run(inputs)
        except Exception:  # noqa: BLE001 - whatever it was
            DEVICE.memory[MODE] = 1
        try:
            return self.unscaled(super().run(inputs))
        finally:
            DEVICE.memory[MODE] = 0

    def unscaled(self, outputs):
        return {name: array / array.dtype.type(DEVICE.scale) for name, array in outputs.items()}


class LeavesTheMode(RestoresTheMode):
    """As its twin, but stays in that mode, which it knows of and nobody else does."""

    def run(self, inputs):
        try:
            return self.unscaled(Queue.run(self, inputs))
        except Exception:  # noqa: BLE001 - whatever it was
            DEVICE.memory[MODE] = 1
        return self.unscaled(Queue.run(self, inputs))


class LeavesTheDeviceAlone(Queue):
    """Tries once more what failed."""

    def run(self, inputs):
        try:
            return super().run(inputs)
        except Exception:  # noqa: BLE001 - whatever it was
            self.recover()
        return super().run(inputs)

    def recover(self):
        """Nothing."""


class ResetsTheDevice(LeavesTheDeviceAlone):
    """As its twin, but resets the whole device first because one run has failed."""

    def recover(self):
        DEVICE.reset()
