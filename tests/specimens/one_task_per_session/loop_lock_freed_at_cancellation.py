"""A coroutine holds an `asyncio.Lock` while an executor's thread runs the session, and the lock is all that guards it.
A cancel ends the coroutine and frees the lock at once; the thread is still in its run when the next one begins.
The twin shields the run, and holds the lock until it has returned.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "asyncio_parts.py"))
LoopService = parts["LoopService"]

INVARIANT = "one-task-per-session"
SCENARIOS = ("cancel-races-completion",)


class Locked(LoopService):
    workers = 1

    def prepare(self, open_session):
        self.session = open_session()
        self.executor = ThreadPoolExecutor(2)
        self.lock = asyncio.Lock()

    def release(self):
        self.executor.shutdown()
        self.session.close()


class FreedAtOnce(Locked):
    async def run(self, inputs):
        async with self.lock:
            return await self.loop.run_in_executor(self.executor, self.session.run, inputs)


class HeldUntilReturn(Locked):
    async def run(self, inputs):
        async with self.lock:
            running = self.loop.run_in_executor(self.executor, self.session.run, inputs)
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                await asyncio.wait([running])
                raise


specimen, twin = FreedAtOnce, HeldUntilReturn
