"""The service's clock: one thread that ends what is due, when it is due."""

from __future__ import annotations

import heapq
import logging
import threading  # noqa: TID251 - the service owns its threads and locks
from collections.abc import Callable
from time import monotonic  # noqa: TID251 - deadlines are the service's own

__all__ = ["Clock", "Timer", "monotonic"]

_LOGGER = logging.getLogger(__name__)
_SMALL = 64

FollowUp = Callable[[], None]
"""Foreign code that a call leaves to be run, with no lock held: callbacks and interrupts."""


class Timer:
    """A call that is due at a time. Cancelling it takes no lock; it may still be called if it was due already."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[[], FollowUp | None]) -> None:
        self.call: Callable[[], FollowUp | None] | None = call

    def cancel(self) -> None:
        """Forget the call and all that it holds."""
        self.call = None


class Clock:
    """Calls what is due, on a thread of its own that is started with the first timer and parked between two.

    Foreign code never delays a deadline: before the thread runs any, it hands the clock over to a fresh thread, runs
    the foreign code and ends. `lock` is the service's; `threads` are those that may be running a callback.
    """

    def __init__(self, lock: threading.RLock, name: str) -> None:
        self._changed = threading.Condition(lock)
        self._name = name
        self._heap: list[tuple[float, int, Timer]] = []
        self._made = 0
        self._sweep_at = _SMALL
        self._keeper: threading.Thread | None = None
        self._stopped = False
        self.threads: list[threading.Thread] = []

    def at(self, due: float, call: Callable[[], FollowUp | None]) -> Timer:
        """Have `call` called when `monotonic()` reaches `due`. Under the service's lock; after `stop`, never called.

        Raises RuntimeError if the thread cannot start; nothing is due then.
        """
        if self._keeper is None and not self._stopped:
            self._start()
        timer = Timer(call)
        self._made += 1
        if len(self._heap) >= self._sweep_at:
            self._sweep()
        heapq.heappush(self._heap, (due, self._made, timer))
        if self._heap[0][2] is timer:
            self._changed.notify()
        return timer

    def stop(self) -> None:
        """Forget every timer that is not due now and let the thread end. Under the service's lock."""
        self._stopped = True
        self._changed.notify_all()

    def join(self) -> None:
        """Wait until the thread has ended and the callbacks on threads before it have returned."""
        for thread in tuple(self.threads):
            thread.join()

    def _sweep(self) -> None:
        # Tasks end long before they are due: without this the heap would hold a minute's worth of them.
        self._heap = [entry for entry in self._heap if entry[2].call is not None]
        heapq.heapify(self._heap)
        self._sweep_at = max(_SMALL, 2 * len(self._heap))

    def _start(self) -> None:
        thread = threading.Thread(target=self._keep_time, name=self._name, daemon=True)
        self._keeper = thread
        self.threads.append(thread)
        try:
            thread.start()
        except BaseException:
            self._keeper = None
            self.threads.remove(thread)
            raise

    def _keep_time(self) -> None:
        while calls := self._await_due():
            follow_ups = [each for each in [call() for call in calls] if each is not None]
            if follow_ups:
                handed_over = self._hand_over()
                _run_all(follow_ups)
                if handed_over:
                    break
        with self._changed:
            self.threads.remove(threading.current_thread())
            if self._stopped:
                self._heap.clear()

    def _await_due(self) -> list[Callable[[], FollowUp | None]]:
        with self._changed:
            while True:
                now = monotonic()
                due: list[Callable[[], FollowUp | None]] = []
                while self._heap and (self._heap[0][0] <= now or self._heap[0][2].call is None):
                    call = heapq.heappop(self._heap)[2].call
                    if call is not None:
                        due.append(call)
                if due or self._stopped:
                    return due
                self._changed.wait(self._heap[0][0] - now if self._heap else None)

    def _hand_over(self) -> bool:
        with self._changed:
            me, self._keeper = self._keeper, None
            if not self._heap or self._stopped:
                return True  # the next timer starts a thread
            try:
                self._start()
            except RuntimeError:
                self._keeper = me  # no thread to be had: late is better than never
        return self._keeper is not me


def _run_all(follow_ups: list[FollowUp]) -> None:
    for follow_up in follow_ups:
        try:
            follow_up()
        except BaseException as error:  # noqa: BLE001 - a client's callback cannot end what others wait for
            _LOGGER.error("a callback raised %s", type(error).__name__)  # noqa: TRY400 - its traceback is the client's
