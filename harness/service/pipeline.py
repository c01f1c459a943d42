"""A staged pipeline: prepare, infer, finish, each on a thread of its own, over a fixed number of buffers."""

from __future__ import annotations

import logging
import threading  # noqa: TID251 - the pipeline owns its threads and locks
import time  # noqa: TID251 - latency is measured here
import traceback
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

from adapters.base import Arrays
from harness.service.errors import QueueFullError, ReplacedError, RunAbortedError, ServiceClosedError
from harness.service.exit_hook import abort_at_exit, forget
from harness.service.forked import refuse_in_child
from harness.service.hold import BufferOwnershipError, Hold, shares_memory
from harness.service.pipeline_counters import PipelineCounters, PipelineMeter, PipelineTimes
from harness.service.pipeline_item import Item, Stage, check_pipeline
from harness.service.requests import OverflowPolicy

__all__ = ["Pipeline", "Stage"]

_LOGGER = logging.getLogger(__name__)


class Pipeline:
    """Items pass the stages in order of acceptance, each item with one buffer that is handed from stage to stage.

    `stages` are named callables; each has one thread, so that as many items are worked on at a time as there are
    stages, and throughput follows the slowest. `buffers` are the only ones there ever are: an item waits in front of
    the first stage until one is free, which is what holds a fast camera back. At most `backlog` items wait there; what
    happens to one more is `overflow`: `block` (for `block_seconds`, None for as long as it takes), `reject`, or
    `replace-oldest`, which ends the oldest waiting item with ReplacedError.

    A stage that raises fails its item alone. Its buffer is free before the outcome is visible, so a result that still
    is part of the buffer fails with BufferOwnershipError instead of being delivered. Futures are those of the standard
    library: `cancel` ends an item until the stage `commits`, the first where none is named, takes it, and answers False
    from then on. The buffer of an item that was cancelled on its way comes back at that stage.

    Any thread may call. Done-callbacks run with no lock held: on the last stage's thread, the thread of the stage that
    failed, the submitter that replaced, the canceller, or the closer of an abort. Raises ValueError for what makes no
    pipeline, as buffers that share memory.
    """

    def __init__(
        self,
        stages: Mapping[str, Stage],
        buffers: Sequence[Arrays],
        *,
        overflow: OverflowPolicy = OverflowPolicy.BLOCK,
        block_seconds: float | None = None,
        backlog: int = 1,
        commits: str = "",
    ) -> None:
        check_pipeline(stages, buffers, overflow, backlog, commits)
        self._stages = tuple(stages.items())
        self._buffers = tuple(buffers)
        self._overflow = OverflowPolicy(overflow)
        self._block_seconds = block_seconds
        self._backlog = backlog
        self._commits = list(stages).index(commits) if commits else 0
        self._meter = PipelineMeter(tuple(stages))
        # One lock guards everything below and the meter; a future's own lock may be taken under it.
        self._lock = threading.Lock()
        self._room = threading.Condition(self._lock)
        self._arrived = tuple(threading.Condition(self._lock) for _ in stages)
        self._inboxes: tuple[deque[Item], ...] = tuple(deque() for _ in stages)
        # A buffer is here, or belongs to exactly one item that the first stage has taken and that has no outcome yet.
        self._free = list(range(len(buffers)))
        self._revocable: set[Future[Any]] = set()  # of items that may be cancelled, and have not been
        self._closing = self._aborted = False
        self._ended = 0  # how many stages have ended, from the first on
        self._threads = [
            threading.Thread(target=self._serve, args=(number,), name=f"Pipeline-{name}", daemon=True)
            for number, name in enumerate(stages)
        ]
        for thread in self._threads:
            thread.start()
        abort_at_exit(self)

    def submit(self, value: Any) -> Future[Any]:
        """Accept one item. Raises QueueFullError or ServiceClosedError; blocks only under `block`."""
        future: Future[Any] = Future()
        future.add_done_callback(self._leave_if_cancelled)
        with self._lock:
            replaced = self._make_place()
            self._inboxes[0].append(Item(value, future, time.monotonic()))
            self._revocable.add(future)
            self._meter.accepted += 1
            self._arrived[0].notify()
        for item in replaced:
            _settle(item.future, None, ReplacedError("a newer item took its place"))
        return future

    def close(self, *, drain: bool = True) -> None:
        """Refuse new items, end those accepted, join the stages. Any thread, any number of times; an abort escalates.

        With `drain` every accepted item passes every stage. Without, items that wait are cancelled, and one in flight
        completes the stage that it is in; unless that was the last, it then fails with ServiceClosedError. On a stage's
        own thread (in a done-callback) it asks for closing and returns.
        """
        with self._lock:
            self._closing = True
            self._aborted = self._aborted or not drain
            dropped = [] if drain else list(self._inboxes[0])
            if not drain:
                self._inboxes[0].clear()
                self._revocable.difference_update(item.future for item in dropped)
                self._meter.cancelled += len(dropped)
            for condition in (self._room, *self._arrived):
                condition.notify_all()
        for item in dropped:
            item.future.cancel()
            item.future.set_running_or_notify_cancel()  # wakes `wait`, which the standard library's cancel does not
        if threading.current_thread() not in self._threads:
            for thread in self._threads:
                thread.join()
            forget(self)

    def forked(self) -> None:
        """Refuse everything from now on: this is a forked child. Called by the exit hook alone; takes no lock."""
        refuse_in_child(self, [item.future for inbox in self._inboxes for item in inbox])

    def counters(self) -> PipelineCounters:
        """Return a consistent snapshot."""
        with self._lock:
            return self._meter.counters(waiting=len(self._inboxes[0]), free_buffers=len(self._free))

    def times(self) -> PipelineTimes:
        """What stages and items took: throughput and latency are two figures."""
        with self._lock:
            return self._meter.times()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- in front of the first stage ----------------------------------------------------------------------------------

    def _make_place(self) -> list[Item]:
        """Under the lock: wait for a place, or free one; returns whom that replaced."""
        self._check_open()
        if self._overflow is OverflowPolicy.BLOCK:
            self._room.wait_for(self._has_room, self._block_seconds)
            self._check_open()
        replaced: list[Item] = []
        while not self._has_room():
            if self._overflow is not OverflowPolicy.REPLACE_OLDEST:
                message = f"{self._backlog} accepted item(s) wait already"
                raise QueueFullError(message)
            oldest = self._inboxes[0].popleft()
            if self._commit(oldest):
                replaced.append(oldest)
                self._meter.replaced += 1
        return replaced

    def _has_room(self) -> bool:
        return self._closing or len(self._inboxes[0]) < self._backlog

    def _check_open(self) -> None:
        if self._closing:
            message = "the pipeline is closed"
            raise ServiceClosedError(message)

    def _leave_if_cancelled(self, future: Future[Any]) -> None:
        """A done-callback: an item that was cancelled while it waited frees its place at once."""
        if not future.cancelled():
            return
        with self._lock:
            if future not in self._revocable:
                return  # whoever took it from there has told the waiters
            self._revocable.remove(future)
            self._meter.cancelled += 1
            item = next((each for each in self._inboxes[0] if each.future is future), None)
            if item is not None:
                self._inboxes[0].remove(item)
                self._room.notify()
        future.set_running_or_notify_cancel()

    def _commit(self, item: Item) -> bool:
        """Under the lock: from here on a cancel cannot end the item; False for one that came before and has."""
        if item.committed:
            return True
        if item.future not in self._revocable:
            return False
        self._revocable.remove(item.future)
        item.committed = item.future.set_running_or_notify_cancel()
        self._meter.cancelled += not item.committed
        return item.committed

    # -- the stages ---------------------------------------------------------------------------------------------------

    def _serve(self, number: int) -> None:
        while (item := self._take(number)) is not None:
            seconds = self._work(number, item)
            if item.failure is None and number + 1 < len(self._stages):
                self._hand_on(number, item, seconds)
            else:
                self._finish(number, item, seconds)
            del item  # an idle stage keeps nobody's data
        with self._lock:
            self._ended = number + 1
            for condition in self._arrived[number + 1 :]:
                condition.notify_all()

    def _take(self, number: int) -> Item | None:
        with self._lock:
            inbox = self._inboxes[number]
            while True:
                if inbox and (number > 0 or self._free):
                    item = inbox.popleft()
                    if number == 0:
                        self._room.notify()
                    if number != self._commits or self._commit(item):
                        item.buffer = self._free.pop() if number == 0 else item.buffer
                        return item
                    self._give_back(item)
                elif not inbox and (self._closing if number == 0 else self._ended >= number):
                    return None
                else:
                    self._arrived[number].wait()

    def _give_back(self, item: Item) -> None:
        """Under the lock: free the buffer of an item that was cancelled, if it has one yet."""
        if item.buffer >= 0:
            self._free.append(item.buffer)
            self._arrived[0].notify()

    def _work(self, number: int, item: Item) -> float | None:
        """Run one stage, which may make the item fail; returns the seconds that it took, None if it was not begun."""
        if self._aborted:
            item.failure = ServiceClosedError("the pipeline was aborted before the item's next stage")
            return None
        stage = self._stages[number][1]
        hold = Hold(self._buffers[item.buffer], self._note_breach)
        begun = time.monotonic()
        try:
            item.value = stage(item.value, hold)
        except Exception as error:  # noqa: BLE001 - a stage's failure is its item's outcome
            item.failure = error
        except BaseException as error:  # noqa: BLE001 - SystemExit must end neither this stage nor who asks for the result
            item.failure = RunAbortedError(f"the stage raised {type(error).__name__}")
            item.failure.__cause__ = error
        finally:
            hold.end()
        if item.failure is not None:
            traceback.clear_frames(item.failure.__traceback__)  # its frames hold the item's data
        return time.monotonic() - begun

    def _hand_on(self, number: int, item: Item, seconds: float | None) -> None:
        # The lock is the fence: what this stage wrote happened before whatever the next one reads.
        with self._lock:
            self._count(number, seconds)
            self._inboxes[number + 1].append(item)
            self._arrived[number + 1].notify()

    def _finish(self, number: int, item: Item, seconds: float | None) -> None:
        if item.failure is None and shares_memory(item.value, self._buffers[item.buffer]):
            item.failure = BufferOwnershipError("the result is part of the buffer: the last stage must copy it")
            self._note_breach()
        with self._lock:
            self._count(number, seconds)
            # Free before anybody learns of the outcome, and only now that no stage can touch it any more.
            assert item.buffer not in self._free, "a buffer has one owner"
            self._free.append(item.buffer)
            if committed := self._commit(item):
                self._meter.ended(failed=item.failure is not None, seconds=time.monotonic() - item.entered)
            self._arrived[0].notify()
        if committed:
            _settle(item.future, item.value, item.failure)

    def _count(self, number: int, seconds: float | None) -> None:
        """Under the lock: one item passed a stage, or failed in it, if it was begun."""
        if seconds is not None:
            self._meter.stage_took(self._stages[number][0], seconds)

    def _note_breach(self) -> None:
        with self._lock:
            self._meter.breaches += 1


def _settle(future: Future[Any], value: Any, failure: BaseException | None) -> None:
    try:
        if failure is None:
            future.set_result(value)
        else:
            future.set_exception(failure)
    except BaseException as error:  # noqa: BLE001 - a client's callback cannot end the stage that others wait for
        _LOGGER.error("a done-callback raised %s", type(error).__name__)  # noqa: TRY400 - its traceback is the client's
