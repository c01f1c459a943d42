"""Start, join and identity of threads, dual-mode: a Thread started by a controlled thread is controlled."""

from __future__ import annotations

import _thread
import concurrent.futures.thread
import sys
import threading  # noqa: TID251 - the engine replaces its bottom
from contextvars import copy_context
from typing import Any
from weakref import WeakSet

from harness.engine.primitives.simple_queue import SimpleQueue
from harness.engine.real import get_ident
from harness.engine.real import start_new_thread as _real_start_new_thread
from harness.engine.scheduler import Scheduler
from harness.engine.threads import CONTROLLED, Controlled, State, current

__all__ = ["forget_threads", "identity", "install_thread", "start_controlled", "start_new_thread"]

FIRST_IDENTITY = 1_000_000
"""Identities of controlled threads count from here: the system's are addresses or small numbers."""
_Module: Any = threading
_executor_worker: Any = concurrent.futures.thread._worker  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - what an executor's threads run
_Thread: Any = threading.Thread
_active: dict[int, Any] = _Module._active  # noqa: SLF001 - what current_thread() and enumerate() look at
_TURNOVER = "started or ended"
"""The group of the accesses that change which threads there are: they commute."""
_INHERITS = bool(getattr(sys.flags, "thread_inherit_context", False))
"""Whether a thread begins with its starter's context variables: CPython 3.14 may be told so."""
_found: dict[str, Any] = {}
_real_start = _Thread.start
_real_join = _Thread.join
_real_is_alive = _Thread.is_alive


def install_thread() -> None:
    """Replace the methods in place, which subclasses and earlier imports see too, and the raw start below."""
    _found["excepthook"] = _Module.excepthook
    raw: Any = _thread
    raw.start_new_thread = raw.start_new = start_new_thread
    raw.get_ident = _Module.get_ident = identity
    _Thread.start = _start
    _Thread.join = _join
    _Thread.is_alive = _is_alive
    _Module._dangling = _Dangling(_Module._dangling)  # noqa: SLF001 - where a thread puts itself when it is made
    _Module._active_limbo_lock = _ActiveLock()  # noqa: SLF001 - what is held where the threads are listed


class _Dangling(WeakSet[Any]):
    """The threads that a forked child would have to know of: no execution has one, and there are many of them."""

    def add(self, item: Any) -> None:
        if get_ident() not in CONTROLLED:
            super().add(item)


class _ActiveLock:
    """The lock of the list of threads: real, for nobody waits within it. Who lists them sees who started and ended."""

    def __init__(self) -> None:
        real = _thread.RLock()
        self.acquire, self.release = real.acquire, real.release

    def __enter__(self) -> None:
        me = current()
        if me is not None:
            me.kernel.touch(me, _active, write=False)
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


def start_new_thread(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, /) -> int:
    """`_thread.start_new_thread`: controlled when a controlled thread calls it, with a Thread for its identity."""
    me = current()
    if me is None:
        return _real_start_new_thread(function, args, kwargs or {})
    thread = _Thread(target=function, args=args, kwargs=kwargs, daemon=True)
    thread.start()
    return me.kernel.threads[-1].ident if thread.ident is None else thread.ident


def start_controlled(
    kernel: Scheduler, thread: Any, *, name: str, role: str, parent: Controlled | None = None
) -> Controlled:
    """Start a Thread object on a carrier of `kernel`."""
    thread._started._flag = True  # noqa: SLF001 - Event.set would take a lock that nobody can contend
    daemon = thread._daemonic  # noqa: SLF001 - what its property says
    controlled = kernel.spawn(name, _run, role=role, daemon=daemon, thread=thread, parent=parent)
    thread.__dict__["_racegate"] = controlled
    # What a real thread has done itself by the time its `start` returns.
    thread._ident = FIRST_IDENTITY + controlled.number  # noqa: SLF001 - what Thread._set_ident does
    thread._native_id = controlled.baton.native_id  # noqa: SLF001 - what Thread._set_native_id does
    _active[thread._ident] = thread  # noqa: SLF001 - current_thread() and enumerate() look here
    if parent is not None:
        kernel.touch(parent, thread)
        kernel.touch_among(parent, _active, "", _TURNOVER)
        kernel.sync.note((parent, thread, True))
    kernel.sync.note((controlled, thread, False))
    return controlled


def forget_threads() -> None:
    """Take threads of earlier executions off the list: of those that were given up before they began, nobody did."""
    for ident, thread in list(_active.items()):
        if "_racegate" in thread.__dict__:
            del _active[ident]


def identity() -> int:
    """`threading.get_ident`: the same for a controlled thread in every execution and on every carrier."""
    real = get_ident()
    me = CONTROLLED.get(real)
    return real if me is None else FIRST_IDENTITY + me.number


def _run(thread: Any) -> None:
    target, arguments = thread._target, thread._args  # noqa: SLF001 - gone once it has run
    context = thread.__dict__.get("_context")  # of CPython 3.14: what it was given, or takes over from who starts it
    try:
        if context is None:
            thread.run()
        else:
            context.run(thread.run)
    except BaseException as error:
        # A hook that was there before prints, or belongs to a test runner: how the thread died is recorded instead.
        if _Module.excepthook is not _found["excepthook"] and not CONTROLLED[get_ident()].aborted:
            thread._invoke_excepthook(thread)  # noqa: SLF001 - as a real thread does
        if not isinstance(error, SystemExit):
            raise
    finally:
        me = CONTROLLED[get_ident()]
        _active.pop(thread._ident, None)  # noqa: SLF001 - as a real thread does
        me.kernel.touch_among(me, _active, "", _TURNOVER)
        if target is _executor_worker and me.aborted:
            _let_go(arguments[0](), thread)


def _let_go(executor: Any, thread: Any) -> None:
    """Let an executor that outlives the execution (a module's own) start workers anew: this one ends with it."""
    if executor is not None:
        executor._threads.discard(thread)  # noqa: SLF001 - it has no other way to learn of it
        executor._idle_semaphore = threading.Semaphore(0)  # noqa: SLF001 - likewise: who was idle is gone
        executor._work_queue = SimpleQueue()  # noqa: SLF001 - likewise: what was left waits for nobody


def _start(self: Any) -> None:
    me = current()
    if me is None:
        _real_start(self)
        return
    if not self._initialized:
        message = "thread.__init__() not called"
        raise RuntimeError(message)
    if self._started._flag:  # noqa: SLF001 - as in start_controlled
        message = "threads can only be started once"
        raise RuntimeError(message)
    if _INHERITS and self._context is None:
        self._context = copy_context()
    kernel = me.kernel
    role = "daemon" if self._daemonic else "service"
    kernel.services_started += 1
    start_controlled(kernel, self, name=f"service-{kernel.services_started}", role=role, parent=me)
    kernel.point(me)


def _join(self: Any, timeout: float | None = None) -> None:
    me = current()
    target: Controlled | None = self.__dict__.get("_racegate")
    if me is None or target is None:
        if target is None:
            _real_join(self, timeout)
        return
    if target is me:
        message = "cannot join current thread"
        raise RuntimeError(message)
    kernel = me.kernel
    if target.state is State.DONE:
        kernel.point(me)
    else:
        if timeout is not None:
            kernel.touch(me, self, write=False)  # whether it has ended decides; to who waits for its end it does not
        target.joiners.append(me)
        kernel.block(me, self, None if timeout is None else max(timeout, 0))
        if me in target.joiners:
            target.joiners.remove(me)
    kernel.touch(me, self, write=False)
    if target.state is State.DONE:
        kernel.sync.note((me, target, False))


def _is_alive(self: Any) -> bool:
    me = current()
    if me is not None:
        me.kernel.look(me, self)
    target: Controlled | None = self.__dict__.get("_racegate")
    if target is None:
        return self._started._flag and _real_is_alive(self)  # noqa: SLF001 - is_set would be one more decision
    return target.state is not State.DONE
