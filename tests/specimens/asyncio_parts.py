"""A service whose tasks are coroutines of a loop on a thread of its own: a specimen gives it the step that is wrong.

Loaded by path, as `parts.py` is.
"""

import asyncio
import threading


class ClosedError(Exception):
    """The service is closing or closed."""

    refusal = "closed"


class Loop(asyncio.SelectorEventLoop):
    """A loop that an execution which is stuck may leave behind without a word."""

    def __del__(self):
        if not self.is_running():
            self.close()


class LoopService:
    """Runs `run(inputs)` for every task, in order of submission where that takes turns."""

    workers = 1

    def __init__(self, open_session, config):
        self.loop = Loop()
        self.admission, self.ending = threading.Lock(), threading.Lock()
        self.closing = self.closed = False
        self.prepare(open_session)
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    def prepare(self, open_session):
        """Make what `run` needs."""

    def release(self):
        """Give back what `prepare` made, when no task is left; other threads may still tell the loop."""

    async def run(self, inputs):
        """Give one task its outcome."""

    def submit(self, inputs):
        """Accept one task, or raise ClosedError."""
        taken = {name: array.copy() for name, array in inputs.items()}
        with self.admission:
            if self.closing:
                raise ClosedError
            return asyncio.run_coroutine_threadsafe(self.run(taken), self.loop)

    def close(self):
        """Refuse new tasks, run those there are, and return when all is done; a second call waits for the first."""
        with self.admission:
            self.closing = True
        with self.ending:
            if self.closed:
                return
            asyncio.run_coroutine_threadsafe(self.ended(), self.loop).result()
            self.release()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()
            self.closed = True

    async def ended(self):
        """Wait until every task but this one has ended."""
        me = asyncio.current_task()
        while others := [task for task in asyncio.all_tasks() if task is not me]:
            await asyncio.wait(others)
