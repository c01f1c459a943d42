"""The selector below an asyncio event loop, dual-mode: a loop on a controlled thread waits in virtual time.

`call_soon_threadsafe` (and with it `run_in_executor` and `wrap_future`) wakes a loop by writing to a socket of the
loop's own. That write is where another thread's work becomes known to the loop, so it is a decision point, and it
wakes the controlled wait.
"""

from __future__ import annotations

import selectors
from collections.abc import Mapping
from typing import Any

from harness.engine.primitives.clock import library_clock
from harness.engine.threads import Controlled, current

__all__ = ["ControlledSelector", "install_selector"]

_RealSelector: Any = selectors.DefaultSelector


class ControlledSelector(selectors.BaseSelector):
    """A real selector, polled and never waited on by a controlled thread."""

    def __init__(self) -> None:
        self._real: Any = _RealSelector()
        self.waiter: Controlled | None = None

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As the real one."""
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """As the real one."""
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As the real one."""
        return self._real.modify(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; on a controlled thread after waiting, in virtual time, for another thread to write."""
        me = current()
        if me is None:
            return self._real.select(timeout)
        kernel = me.kernel
        kernel.point(me)
        kernel.touch(me, self)
        ready = self._real.select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        self.waiter = me
        kernel.block(me, self, timeout)
        self.waiter = None
        kernel.touch(me, self)
        kernel.sync.note((me, self, False))
        return self._real.select(0)

    def wake(self, by: Controlled) -> None:
        """Somebody wrote: whoever waits here may go on."""
        by.kernel.touch(by, self)
        by.kernel.sync.note((by, self, True))
        if self.waiter is not None:
            by.kernel.wake(self.waiter)

    def close(self) -> None:
        """As the real one."""
        self._real.close()

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        """As the real one."""
        return self._real.get_key(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """As the real one."""
        return self._real.get_map()


def _loop_time(self: Any) -> float:
    """`loop.time`, which a loop reads several times a round: no decision points, there are enough around it."""
    del self
    return library_clock()


def install_selector() -> None:
    """Replace the default selector, and the write by which other threads wake a loop."""
    module: Any = selectors
    module.DefaultSelector = ControlledSelector
    import asyncio.events  # noqa: PLC0415 - after the selector it binds is ours
    import asyncio.selector_events as events  # noqa: PLC0415 - as above

    loop: Any = events.BaseSelectorEventLoop
    loop.time = _loop_time
    real_write = loop._write_to_self  # noqa: SLF001 - the one place where threads meet a loop

    def write_to_self(self: Any) -> None:
        me = current()
        if me is not None:
            me.kernel.point(me)
        real_write(self)
        if me is not None and isinstance(self._selector, ControlledSelector):
            self._selector.wake(me)

    loop._write_to_self = write_to_self  # noqa: SLF001 - as above
    asyncio.events.new_event_loop().close()  # the first one takes a lock more, to make what makes loops
