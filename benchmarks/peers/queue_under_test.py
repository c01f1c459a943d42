"""A bounded inference queue as tutorials write it, and bugs of the classic kinds put into it, one each.

Plain Python and the standard library: nothing here knows who runs it. Each variant is a class of its own; the
textbook queue and the condition queue are correct.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future

__all__ = ["BUGS", "CORRECT", "Program", "run_on_threads"]

PAYLOADS = (1, 2)
"""What the two submitters submit. The canceller submits 3."""
STOP = object()


class RefusedError(Exception):
    """The queue is closed or full."""


class Session:
    """Doubles a number in a buffer of its own, as an interpreter with allocated tensors does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.output = [0]
        self.runs = 0

    def run(self, payload: int) -> list[int]:
        """Leave the result in the session's buffer, and return the buffer."""
        self.output[0] = 2 * payload
        with self._lock:
            self.runs += 1
        return self.output


class TextbookQueue:
    """`workers` threads run `serve`; `submit` refuses when full or closed; `close` lets what was accepted finish."""

    capacity = 2
    workers = 1
    closers = 1

    def __init__(self, session: Session) -> None:
        self.session = session
        self.tasks: queue.Queue[object] = queue.Queue(self.capacity)
        self.lock = threading.Lock()
        self.open = True
        self.accepted = 0
        self.finished = 0

    def submit(self, payload: int) -> Future[list[int]]:
        """Accept a task. Raises RefusedError."""
        future: Future[list[int]] = Future()
        with self.lock:
            if not self.open:
                raise RefusedError
            try:
                self.tasks.put_nowait((payload, future))
            except queue.Full:
                raise RefusedError from None
            self.accepted += 1
        return future

    def serve(self) -> None:
        """What a worker does until it takes the sentinel."""
        while (item := self.tasks.get()) is not STOP:
            self.process(*item)

    def process(self, payload: int, future: Future[list[int]]) -> None:
        """Run one task."""
        if future.set_running_or_notify_cancel():
            future.set_result(list(self.session.run(payload)))
        with self.lock:
            self.finished += 1

    def close(self) -> None:
        """Accept no more; the workers end after what they have."""
        with self.lock:
            if not self.open:
                return
            self.open = False
        for _ in range(self.workers):
            self.tasks.put(STOP)

    def check(self) -> None:
        """What holds once every thread has ended."""
        assert self.tasks.empty(), "something was left in the queue"
        assert self.finished == self.accepted, "a task was accepted and not finished"


class ConditionQueue(TextbookQueue):
    """The same by hand, on a deque and one condition. `submit` waits while the queue is full."""

    capacity = 1

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.items: deque[tuple[int, Future[list[int]]]] = deque()
        self.changed = threading.Condition()

    def submit(self, payload: int) -> Future[list[int]]:
        """Accept a task, as soon as there is room. Raises RefusedError."""
        future: Future[list[int]] = Future()
        with self.changed:
            while self.open and len(self.items) >= self.capacity:
                self.changed.wait()
            if not self.open:
                raise RefusedError
            self.items.append((payload, future))
            self.accepted += 1
            self.notify()
        return future

    def notify(self) -> None:
        """Tell the others that something changed."""
        self.changed.notify_all()

    def serve(self) -> None:
        """What a worker does until the queue is closed and empty."""
        while (item := self.take()) is not None:
            self.process(*item)

    def take(self) -> tuple[int, Future[list[int]]] | None:
        """The next task; None after the last."""
        with self.changed:
            while self.open and not self.items:
                self.changed.wait()
            if not self.items:
                return None
            item = self.items.popleft()
            self.notify()
            return item

    def close(self) -> None:
        """Accept no more."""
        with self.changed:
            self.open = False
            self.changed.notify_all()


class FlagReadWithoutLock(TextbookQueue):
    """A task is put in behind the sentinel."""

    def submit(self, payload: int) -> Future[list[int]]:
        future: Future[list[int]] = Future()
        if not self.open:
            raise RefusedError
        try:
            self.tasks.put_nowait((payload, future))
        except queue.Full:
            raise RefusedError from None
        with self.lock:
            self.accepted += 1
        return future


class CheckThenActInClose(TextbookQueue):
    """Two closers both see an open queue: one sentinel too many."""

    closers = 2

    def close(self) -> None:
        with self.lock:
            was_open = self.open
        if was_open:
            with self.lock:
                self.open = False
            self.tasks.put(STOP)


class SentinelBeforeFlag(TextbookQueue):
    """The sentinel is in the queue before the flag is down."""

    def close(self) -> None:
        self.tasks.put(STOP)
        with self.lock:
            self.open = False


class LostSentinel(TextbookQueue):
    """A full queue swallows the sentinel."""

    def close(self) -> None:
        with self.lock:
            self.open = False
            try:
                self.tasks.put_nowait(STOP)
            except queue.Full:
                return


class PutHoldingLock(TextbookQueue):
    """A submitter waits for room with the lock that the worker needs to make room."""

    capacity = 1

    def submit(self, payload: int) -> Future[list[int]]:
        future: Future[list[int]] = Future()
        with self.lock:
            if not self.open:
                raise RefusedError
            self.accepted += 1
            self.tasks.put((payload, future))
        return future


class WorkerDiesOnCancel(TextbookQueue):
    """The worker does not ask whether the future was cancelled."""

    def process(self, payload: int, future: Future[list[int]]) -> None:
        future.set_result(list(self.session.run(payload)))
        with self.lock:
            self.finished += 1


class DroppedAtClose(TextbookQueue):
    """Close throws away what is queued, and nobody tells those who wait."""

    def close(self) -> None:
        with self.lock:
            self.open = False
            try:
                while True:
                    self.tasks.get_nowait()
                    self.finished += 1
            except queue.Empty:
                self.tasks.put_nowait(STOP)


class ResultSetTwice(TextbookQueue):
    """Close fails what is not done yet, also what the worker is about to finish."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.current: Future[list[int]] | None = None

    def process(self, payload: int, future: Future[list[int]]) -> None:
        self.current = future
        super().process(payload, future)
        self.current = None

    def close(self) -> None:
        super().close()
        current = self.current
        if current is not None and not current.done():
            current.set_exception(RefusedError())


class SharedBuffer(TextbookQueue):
    """Two workers run the same session at once."""

    workers = 2


class ResultBeforeCopy(TextbookQueue):
    """The caller gets the session's buffer, which the next run overwrites."""

    def process(self, payload: int, future: Future[list[int]]) -> None:
        if future.set_running_or_notify_cancel():
            future.set_result(self.session.run(payload))
        with self.lock:
            self.finished += 1


class LockOrder(TextbookQueue):
    """Submit takes the queue's lock and then the statistics' one, close the other way round."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.statistics = threading.Lock()

    def submit(self, payload: int) -> Future[list[int]]:
        future: Future[list[int]] = Future()
        with self.lock:
            if not self.open or self.tasks.full():
                raise RefusedError
            with self.statistics:
                self.accepted += 1
            self.tasks.put_nowait((payload, future))
        return future

    def close(self) -> None:
        with self.statistics, self.lock:
            self.open = False
        self.tasks.put(STOP)


class CallbackUnderLock(TextbookQueue):
    """Futures are completed with the lock held that their callbacks take."""

    def submit(self, payload: int) -> Future[list[int]]:
        future = super().submit(payload)
        future.add_done_callback(self.count)
        return future

    def count(self, _: object) -> None:
        """Count a finished task."""
        with self.lock:
            self.finished += 1

    def process(self, payload: int, future: Future[list[int]]) -> None:
        if future.set_running_or_notify_cancel():
            result = list(self.session.run(payload))
            with self.lock:
                future.set_result(result)


class DoubleRelease(TextbookQueue):
    """A cancelled task gives its slot back by its callback, and once more by the worker."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.slots = threading.BoundedSemaphore(self.capacity)

    def submit(self, payload: int) -> Future[list[int]]:
        if not self.slots.acquire(blocking=False):
            raise RefusedError
        try:
            future = super().submit(payload)
        except RefusedError:
            self.slots.release()
            raise
        future.add_done_callback(self.cancelled)
        return future

    def cancelled(self, future: Future[list[int]]) -> None:
        """Give the slot of a cancelled task back."""
        if future.cancelled():
            self.slots.release()

    def process(self, payload: int, future: Future[list[int]]) -> None:
        super().process(payload, future)
        self.slots.release()


class LostUpdate(TextbookQueue):
    """The number of accepted tasks is read under the lock, and written under the lock taken once more."""

    def submit(self, payload: int) -> Future[list[int]]:
        future: Future[list[int]] = Future()
        with self.lock:
            if not self.open:
                raise RefusedError
            try:
                self.tasks.put_nowait((payload, future))
            except queue.Full:
                raise RefusedError from None
            accepted = self.accepted
        with self.lock:
            self.accepted = accepted + 1
        return future


class MissingNotify(ConditionQueue):
    """Close does not wake the worker that waits."""

    def close(self) -> None:
        with self.changed:
            self.open = False


class NotifyOne(ConditionQueue):
    """One waiter is woken, and it may be the wrong one: submitters and the worker wait on the same condition."""

    def notify(self) -> None:
        self.changed.notify()

    def close(self) -> None:
        with self.changed:
            self.open = False
            self.notify()


class IfForWhile(ConditionQueue):
    """A woken worker takes without looking again, and another worker was there first."""

    workers = 2

    def take(self) -> tuple[int, Future[list[int]]] | None:
        with self.changed:
            if self.open and not self.items:
                self.changed.wait()
            if not self.open and not self.items:
                return None
            item = self.items.popleft()
            self.notify()
            return item


CORRECT = {"textbook": TextbookQueue, "condition": ConditionQueue}
BUGS: dict[str, type[TextbookQueue]] = {
    "accept flag read without the lock": FlagReadWithoutLock,
    "check-then-act in close": CheckThenActInClose,
    "sentinel before the flag": SentinelBeforeFlag,
    "lost sentinel": LostSentinel,
    "put into a full queue holding the lock": PutHoldingLock,
    "worker dies on a cancelled future": WorkerDiesOnCancel,
    "queued futures dropped at close": DroppedAtClose,
    "result set twice": ResultSetTwice,
    "two workers sharing a buffer": SharedBuffer,
    "result delivered before the copy": ResultBeforeCopy,
    "lock order": LockOrder,
    "callback run under the lock": CallbackUnderLock,
    "slot released twice": DoubleRelease,
    "lost update": LostUpdate,
    "missing notify": MissingNotify,
    "notify for notify_all": NotifyOne,
    "if for while": IfForWhile,
}


class Program:
    """One queue, its workers, two submitters, a canceller and its closers; then the assertions.

    `bodies` are what the threads run, `check` is called after all of them have ended. A thread that raises, or that
    never ends, is a failure, and so is a raising `check`.
    """

    def __init__(self, kind: type[TextbookQueue]) -> None:
        self.queue = kind(Session())
        self.bodies: list[Callable[[], None]] = [
            *(self.queue.serve for _ in range(kind.workers)),
            *(self._submitter(payload) for payload in PAYLOADS),
            self._cancel,
            *(self.queue.close for _ in range(kind.closers)),
        ]

    def _submitter(self, payload: int) -> Callable[[], None]:
        def submit() -> None:
            try:
                future = self.queue.submit(payload)
            except RefusedError:
                return
            result = future.result()
            assert result == [2 * payload], "a result of another task"

        return submit

    def _cancel(self) -> None:
        try:
            future = self.queue.submit(3)
        except RefusedError:
            return
        future.cancel()
        try:
            result = future.result()
        except CancelledError:
            return
        assert result == [6], "a result of another task"

    def check(self) -> None:
        """What holds at the end."""
        self.queue.check()


def run_on_threads(kind: type[TextbookQueue]) -> None:
    """The program, on threads that the calling one starts and joins."""
    program = Program(kind)
    threads = [threading.Thread(target=body) for body in program.bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    program.check()
