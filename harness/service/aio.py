"""The queue and the pool for asyncio: `await service.submit(...)` over the same core."""

from __future__ import annotations

import asyncio
import threading  # noqa: TID251 - closing waits for threads, and a loop must not
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, Self

from adapters.base import Array, Arrays
from harness.service.attempt import private_copy
from harness.service.bounded import BoundedService
from harness.service.clock import monotonic
from harness.service.errors import QueueFullError, ServiceClosedError
from harness.service.future import InferenceFuture
from harness.service.lifecycle import CloseReason
from harness.service.requests import DEFAULT_CLASS, OverflowPolicy, RequestClass

__all__ = ["AsyncService"]


class AsyncService:
    """A service for coroutines, of one loop or of several. It has no threads but one while it closes or journals.

    And one for each session that is interrupted, for as long as that takes.

    Everything said of the service holds. Cancelling the task that awaits cancels the inference task, waiting or
    running: a running one keeps its slot and its buffers until the native call has returned, and its result is dropped.
    asyncio.CancelledError is raised in a task that was cancelled and nowhere else: one whose inference task was
    cancelled, by an abort, gets `concurrent.futures.CancelledError`.

    A loop that is closed with work in flight leaves it to run to its outcome, which nobody gets.
    """

    def __init__(self, service: BoundedService) -> None:
        self.service = service
        self._classes = {each.name: each for each in service.config.classes}
        self._closing = False
        self._journal = _JournalThread()

    async def submit(self, inputs: Arrays, **options: Any) -> dict[str, Array]:
        """Submit one task, with the options of the service, and return its outputs or raise what it ended with.

        Raises what the service's `submit` raises, at once where it does.
        """
        return await self.outcome(await self.start(inputs, **options))

    async def start(
        self,
        inputs: Arrays,
        *,
        request_class: str = DEFAULT_CLASS,
        deadline: float | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the service's option; it ends the wait for a place alone
        **options: Any,
    ) -> InferenceFuture:
        """Submit one task and return its future: for its `task_id` and `cancel_kind`, and for `outcome`.

        Only a class that blocks or journals makes this wait, and then it never blocks the loop. Raises what the
        service's `submit` raises.
        """
        if self._closing:
            message = "the service is being closed"
            raise ServiceClosedError(message)
        request = self._classes.get(request_class, RequestClass())
        submit = partial(self.service.submit, request_class=request_class, **options)
        if request.overflow is OverflowPolicy.BLOCK:
            return await self._start_in_turn(submit, inputs, request, deadline, timeout)
        return await self._accepted(request, partial(submit, deadline=deadline, timeout=timeout), inputs)

    async def outcome(self, future: InferenceFuture) -> dict[str, Array]:
        """Wait for a task of this service, on any loop; the task is cancelled if this is."""
        try:
            await _done(future)
            return future.result(0)
        except asyncio.CancelledError:
            if self._class_of(future).journal:
                self._journal.do(future.cancel)
            else:
                future.give_up(_on_a_thread)
            raise
        finally:
            del future  # an error's traceback holds this frame, and the future holds the error

    async def close(
        self, *, drain: bool | None = None, deadline: float | None = None, reason: CloseReason = CloseReason.SHUTDOWN
    ) -> None:
        """Close the service, as its own `close` does, and return when that is done; the loop goes on meanwhile.

        From the call on this front refuses new tasks. Cancelling the wait does not stop the closing.
        """
        self._closing = True
        closed: Future[None] = Future()
        closed.set_running_or_notify_cancel()  # it is not to be cancelled with the wait for it
        close = partial(self.service.close, drain=drain, deadline=deadline, reason=reason)
        threading.Thread(target=_do, args=(close, closed), name="aio-closer", daemon=True).start()
        await _done(closed)
        self._journal.end()
        closed.result(0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def _class_of(self, future: InferenceFuture) -> RequestClass:
        return self._classes.get(future.request_class, RequestClass())

    async def _accepted(
        self, request: RequestClass, submit: Callable[[Arrays], InferenceFuture], inputs: Arrays
    ) -> InferenceFuture:
        if request.journal:
            return await self._journal.submit(partial(submit, private_copy(inputs)))
        return submit(inputs)

    async def _start_in_turn(
        self,
        submit: Callable[..., InferenceFuture],
        inputs: Arrays,
        request: RequestClass,
        deadline: float | None,
        timeout: float | None,  # noqa: ASYNC109 - as above
    ) -> InferenceFuture:
        loop, room = asyncio.get_running_loop(), asyncio.Event()
        seconds = request.deadline if deadline is None else deadline
        patience = request.block_seconds if timeout is None else timeout
        now = monotonic()
        due = None if seconds is None else now + seconds
        until = min(
            (end for end in (due, None if patience is None else now + patience) if end is not None), default=None
        )
        turn = self.service.take_turn(request.name, partial(_tell, loop, room.set))
        refused: QueueFullError | None = None
        try:
            while refused is None or until is None or now < until:
                left = None if due is None else due - now
                try:
                    return await self._accepted(request, partial(submit, deadline=left, turn=turn), inputs)
                except QueueFullError as error:
                    if refused is None:
                        inputs = private_copy(inputs)  # others may write to the arrays while this waits
                    refused = error
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if until is None else until - now):
                        await room.wait()
                room.clear()
                now = monotonic()
            raise refused
        finally:
            refused = None  # its traceback holds this frame
            self.service.give_up(turn)


class _JournalThread:
    """Where tasks that must finish are accepted and cancelled: both wait for the disk."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    async def submit(self, submit: Callable[[], InferenceFuture]) -> InferenceFuture:
        """Submit there. If this is cancelled, so is the task, at once or when it has been accepted."""
        accepted: Future[InferenceFuture] = self._started().submit(submit)
        try:
            await _done(accepted)
        except asyncio.CancelledError:
            if not accepted.cancel():
                accepted.add_done_callback(_cancel_accepted)
            raise
        return accepted.result(0)

    def do(self, call: Callable[[], object]) -> None:
        """Call there, or here when it has ended."""
        try:
            self._started().submit(call)
        except RuntimeError:
            call()

    def end(self) -> None:
        """Take nothing more, and let the thread end when it has done what it has."""
        with self._lock:
            if self._executor is not None:
                self._executor.shutdown(wait=False)

    def _started(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(1, thread_name_prefix="aio-journal")
            return self._executor


def _cancel_accepted(accepted: Future[InferenceFuture]) -> None:
    if accepted.exception() is None:
        accepted.result().cancel()


def _on_a_thread(interrupt: Callable[[], None]) -> None:
    """A runtime may take its time over an interrupt, and the loop has others to serve."""
    try:
        threading.Thread(target=interrupt, name="aio-interrupt", daemon=True).start()
    except RuntimeError:  # the interpreter is exiting: the worker that waits for the interrupt must get it all the same
        interrupt()


def _do(call: Callable[[], None], done: Future[None]) -> None:
    try:
        call()
    except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
        done.set_exception(error)
    else:
        done.set_result(None)


async def _done(future: Future[Any]) -> None:
    """Wait on this loop until a future of other threads is done. Raises nothing of its own."""
    loop = asyncio.get_running_loop()
    told = loop.create_future()
    future.add_done_callback(lambda _: _tell(loop, partial(_set, told)))
    await told


def _tell(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    """Have a loop call something, from any thread: a loop's own objects wake nobody when they are set from another."""
    with suppress(RuntimeError):  # it is closed: nobody waits there any more
        loop.call_soon_threadsafe(call)


def _set(told: asyncio.Future[None]) -> None:
    if not told.done():
        told.set_result(None)
