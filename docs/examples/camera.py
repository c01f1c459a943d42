"""A camera: only the newest frame matters, and the picture on the screen never goes back in time.

python docs/examples/camera.py
"""

import time

import numpy as np

from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service.config import ServiceConfig
from harness.service.errors import ReplacedError
from harness.service.freshness import FreshSubscriber
from harness.service.pipeline import Pipeline
from harness.service.queue import SerialQueue
from harness.service.requests import OverflowPolicy

FRAMES = 40
ADAPTER = load_adapter("numpy")
MODEL = resolve("builtin:slow", ADAPTER.suffixes)


def open_session(*, fallback=False):
    return ADAPTER.open(MODEL, ADAPTER.default_delegate, {})


queue = SerialQueue(open_session, ServiceConfig(capacity=4))


def prepare(frame, hold):
    number, pixels = frame
    np.divide(pixels, 255, out=hold["x"])  # into the pipeline's own buffer: nothing is allocated for a frame
    return number


def infer(number, hold):
    length = np.array([500], np.int32)  # makes the bundled model take some milliseconds
    return queue.submit({"x": hold["x"], "n": length}, context=number)


def finish(future, hold):
    return future.context, float(future.result()["y"].mean())


shown = []
screen = FreshSubscriber(lambda result: shown.append(result.context_version))
buffers = [{"x": np.empty((256, 64), np.float32)} for _ in range(3)]
stages = {"prepare": prepare, "infer": infer, "finish": finish}

dropped = 0
with Pipeline(stages, buffers, overflow=OverflowPolicy.REPLACE_OLDEST) as pipeline:
    results = []
    for number in range(1, FRAMES + 1):
        pixels = np.full((256, 64), number, np.uint8)
        future = pipeline.submit((number, pixels))
        screen.follow(future, context=number)
        results.append(future)
        time.sleep(0.002)  # the camera does not wait for the model
queue.close()

dropped = sum(isinstance(future.exception(), ReplacedError) for future in results)
counters = pipeline.counters()
assert dropped == counters.replaced
assert shown == sorted(shown)
print(f"every one of {FRAMES} frames was shown or replaced: {len(shown) + dropped == FRAMES}")
print(f"the last one shown is frame {shown[-1]}")
print(f"buffers back: {counters.free_buffers} of {len(buffers)}")
print(f"the slowest stage: {pipeline.times().slowest}")
