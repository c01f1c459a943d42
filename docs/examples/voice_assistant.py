"""A voice assistant: it always listens, a command comes first, and a new one silences the reply to the last.

python docs/examples/voice_assistant.py
"""

import numpy as np

from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service.config import ServiceConfig
from harness.service.errors import DeadlineExpiredError
from harness.service.freshness import FreshSubscriber
from harness.service.lifecycle import CloseReason
from harness.service.queue import SerialQueue
from harness.service.requests import Ordering, OverflowPolicy, RequestClass

ADAPTER = load_adapter("numpy")
MODEL = resolve("builtin:slow", ADAPTER.suffixes)


def open_session(*, fallback=False):
    return ADAPTER.open(MODEL, ADAPTER.default_delegate, {})


def sound(number, length):
    return {"x": np.full((256, 64), number, np.float32), "n": np.array([length], np.int32)}


listening = RequestClass(name="listening", overflow=OverflowPolicy.KEEP_LATEST, floor=0.25)
command = RequestClass(name="command", priority=10, deadline=30.0)
reply = RequestClass(name="reply", priority=5)
config = ServiceConfig(capacity=8, classes=(listening, command, reply), ordering=Ordering.PRIORITY)

said = []
speaker = FreshSubscriber(lambda result: said.append(result.context_version))

with SerialQueue(open_session, config) as queue:
    # Somebody asks, and the answer is under way.
    first = queue.submit(sound(1, 40000), request_class="reply", context=1)
    speaker.follow(first)
    while not first.running():
        pass

    # The microphone goes on meanwhile: of what waits, only the latest stays.
    heard = [queue.submit(sound(number, 10), request_class="listening") for number in range(5)]

    # Barge-in: the reply to the first question is of no interest any more.
    speaker.expect(2)
    print("first reply cancelled:", first.cancel(), first.cancel_kind)
    second = queue.submit(sound(2, 10), request_class="command", context=2)
    speaker.follow(second)

    # A command that cannot be answered in time is not answered late.
    hopeless = queue.submit(sound(3, 10), request_class="command", deadline=1e-6)
    try:
        hopeless.result()
    except DeadlineExpiredError:
        print("expired while", hopeless.expired_kind)

    second.result()
    heard[-1].result()
    print("replaced:", sum(future.exception() is not None for future in heard), "of", len(heard))
    queue.close(reason=CloseReason.BACKGROUND)

print("answers spoken:", said)
