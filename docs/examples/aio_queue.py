"""The queue behind its asyncio front, for clients in threads: every outcome comes through a loop on a thread of its own.

racegate run --service docs/examples/aio_queue.py:factory
"""

import asyncio
import concurrent.futures
import threading

from harness.service.aio import AsyncService
from harness.service.errors import ServiceClosedError
from harness.service.queue import SerialQueue


class AioQueue:
    def __init__(self, queue):
        self._front = AsyncService(queue)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._admission, self._closing = threading.Lock(), threading.Lock()
        self._ended = False

    def submit(self, inputs):
        # Two steps, so that a refusal is raised here and is not the task's outcome.
        with self._admission:
            if self._ended:
                raise ServiceClosedError("the loop has ended")
            accepted = self._call(self._front.start(inputs)).result()
            return self._call(self._outcome(accepted))

    def close(self, drain=True):
        with self._closing:
            if self._loop.is_closed():
                return
            self._call(self._front.close(drain=drain)).result()
            with self._admission:
                self._ended = True
            self._call(self._outcomes_told()).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _outcome(self, accepted):
        try:
            return await self._front.outcome(accepted)
        except concurrent.futures.CancelledError:  # by an abort: the client's future is a cancelled one, too
            raise asyncio.CancelledError from None

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def _outcomes_told(self):
        me = asyncio.current_task()
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task is not me), return_exceptions=True)


def factory(open_session, config):
    return AioQueue(SerialQueue(open_session, config))


factory.capabilities = {"overflow:reject", "fifo", "drain"}
factory.workers = 1
