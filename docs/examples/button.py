"""A button: impatient people press it again, change their mind, or leave the page.

python docs/examples/button.py
"""

import numpy as np

from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service.config import ServiceConfig
from harness.service.errors import QueueFullError, ServiceClosedError
from harness.service.http_status import http_answer
from harness.service.lifecycle import CloseReason
from harness.service.queue import SerialQueue
from harness.service.requests import OverflowPolicy, RequestClass

ADAPTER = load_adapter("numpy")
MODEL = resolve("builtin:slow", ADAPTER.suffixes)


def open_session(*, fallback=False):
    return ADAPTER.open(MODEL, ADAPTER.default_delegate, {})


def picture(number):
    """A picture; the first one takes the bundled model some tenths of a second."""
    length = 40000 if number == 1 else 100
    return {"x": np.full((256, 64), number, np.float32), "n": np.array([length], np.int32)}


presses = RequestClass(name="press", overflow=OverflowPolicy.COALESCE, deadline=30.0)
queue = SerialQueue(open_session, ServiceConfig(capacity=2, classes=(presses,)))


def press(number):
    return queue.submit(picture(number), request_class="press", key=number)


first = press(1)
while not first.running():
    pass

again = [press(2) for _ in range(3)]  # the same button, three times, while picture 1 is analysed
print("accepted:", queue.counters().accepted, "waiting runs:", queue.counters().waiting)

mind_changed = press(3)
print("cancelled:", mind_changed.cancel(), mind_changed.cancel_kind)

press(4)
try:
    press(5)
except QueueFullError as busy:
    print("busy, over HTTP:", http_answer(busy).status)

answers = [future.result()["y"] for future in again]
print("three presses, one answer each:", all(float(answer[0, 0]) == 2.0 for answer in answers))
print("and none can change another's:", not any(answer.flags.writeable for answer in answers))

queue.close(drain=False, reason=CloseReason.PAGE_CLOSED)
try:
    press(6)
except ServiceClosedError as closed:
    print("the page is gone, over HTTP:", http_answer(closed).status)
