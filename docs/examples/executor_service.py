"""`ThreadPoolExecutor(1)` around one session: the shortest service there is.

racegate run --service docs/examples/executor_service.py:factory
"""

from concurrent.futures import ThreadPoolExecutor


class ExecutorService:
    def __init__(self, session):
        self._session = session
        self._executor = ThreadPoolExecutor(max_workers=1)

    def submit(self, inputs):
        return self._executor.submit(self._session.run, inputs)

    def close(self):
        self._executor.shutdown(wait=True)
        self._session.close()


def factory(open_session, config):
    return ExecutorService(open_session())
