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

    def submit(self, inputs, **options):
        accepted = concurrent.futures.Future()
        with self._admission:
            if self._ended:
                raise ServiceClosedError("the queue is being closed")
            outcome = self._call(self._run(inputs, options, accepted))
        accepted.result()  # a refusal is raised here, and is not the task's outcome
        return outcome

    def close(self, drain=True):
        with self._closing:
            if self._loop.is_closed():
                return
            with self._admission:
                self._ended = True
            self._call(self._close(drain)).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _run(self, inputs, options, accepted):
        try:
            future = await self._front.start(inputs, **options)
        except Exception as refusal:
            accepted.set_exception(refusal)
            return None
        accepted.set_result(None)
        try:
            return await self._front.outcome(future)
        except concurrent.futures.CancelledError:  # by an abort: the client's future is a cancelled one, too
            raise asyncio.CancelledError from None

    async def _close(self, drain):
        await self._front.close(drain=drain)
        me = asyncio.current_task()
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task is not me), return_exceptions=True)

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


def factory(open_session, config):
    return AioQueue(SerialQueue(open_session, config))


factory.capabilities = {"overflow:reject", "overflow:block", "deadline", "fifo", "drain"}
factory.workers = 1
