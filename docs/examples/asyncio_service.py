"""An asyncio loop on a thread of its own, with one session behind an `asyncio.Lock`.

racegate run --service docs/examples/asyncio_service.py:factory
"""

import asyncio
import threading


class AsyncioService:
    def __init__(self, session):
        self._session = session
        self._loop = asyncio.new_event_loop()
        self._lock = asyncio.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def submit(self, inputs):
        copy = {name: array.copy() for name, array in inputs.items()}
        return asyncio.run_coroutine_threadsafe(self._run(copy), self._loop)

    async def _run(self, inputs):
        async with self._lock:
            return await self._loop.run_in_executor(None, self._session.run, inputs)

    def close(self):
        asyncio.run_coroutine_threadsafe(self._drain(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._session.close()

    async def _drain(self):
        async with self._lock:
            await self._loop.shutdown_default_executor()


def factory(open_session, config):
    return AsyncioService(open_session())
