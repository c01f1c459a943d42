"""Put the dual-mode primitives in place, before any user or runtime code is imported.

`from threading import Lock` then binds the dual-mode class. What was imported earlier is swept: module and class
attributes that still are the real functions, and raw locks that modules made while they were imported.
"""

from __future__ import annotations

import _queue
import _thread
import _threading_local
import concurrent.futures  # loaded before the sweep, which brings its module-level lock under control
import concurrent.futures.thread  # pyright: ignore[reportUnusedImport]
import datetime  # noqa: ICN001 - the module itself is what is changed
import gc
import itertools
import logging
import queue
import sys
import threading  # noqa: TID251 - the engine replaces its bottom
import time  # noqa: TID251 - the engine replaces it
import types
from typing import Any

from harness.engine.compiling import core
from harness.engine.primitives.clock import CLOCKS, ControlledDatetime
from harness.engine.primitives.given import Lock, RLock, WaiterLock
from harness.engine.primitives.library import install_library
from harness.engine.primitives.selector import install_selector
from harness.engine.primitives.simple_queue import SimpleQueue
from harness.engine.primitives.thread import forget_threads, identity, install_thread, start_new_thread

__all__ = ["install", "installed", "reset_names"]

_state: dict[str, Any] = {"installed": False, "serial": itertools.count(1).__next__}
_swept: set[str] = set()
"""Modules that were swept: whatever they make later is dual-mode from the start."""
REAL_START_NEW_THREAD = _thread.start_new_thread
REAL_GET_IDENT = _thread.get_ident
"""Kept before they are replaced, to find them in modules that imported them earlier."""
_RAW_LOCK = type(_thread.allocate_lock())
_OURS = ("harness.engine.", "_pytest", "pluggy", "execnet", "xdist")
"""Modules that keep the real primitives: the engine's own, and a test runner's around it."""


def installed() -> bool:
    """Say whether the primitives are in place."""
    return _state["installed"]


def install() -> None:
    """Replace the primitives, once per process. A later call sweeps again for modules imported since.

    Raises StaleCoreError where the engine is not the one that its sources are.
    """
    if not _state["installed"]:
        core()
        _state["installed"] = True
        _replace_bottom()
        _pin_order()
    _sweep()


def _replace_bottom() -> None:
    module: Any = threading
    module._allocate_lock = WaiterLock  # noqa: SLF001 - Condition makes its waiters' locks with it
    module.Lock = Lock
    module.RLock = RLock
    module._CRLock = RLock  # noqa: SLF001 - what RLock() makes
    module.local = _threading_local.local
    install_library()
    install_thread()
    install_selector()
    for name, (_, dual) in CLOCKS.items():
        setattr(time, name, dual)
    queues: Any = queue
    queues.SimpleQueue = SimpleQueue
    dates: Any = datetime
    dates.datetime = ControlledDatetime


def _pin_order() -> None:
    """Sets of threads and futures, and futures sorted by address, come in the order of their making instead."""
    for kind in (threading.Thread, concurrent.futures.Future):
        made: Any = kind
        made.__hash__ = _logical_hash
    base: Any = sys.modules["concurrent.futures._base"]
    base.id = _logical_id


def _logical_hash(self: Any) -> int:
    serial = self.__dict__.get("_racegate_serial")
    if serial is None:
        serial = self.__dict__["_racegate_serial"] = _state["serial"]()
    return serial


def _logical_id(value: object) -> int:
    return _logical_hash(value) if isinstance(value, concurrent.futures.Future) else id(value)


def reset_names() -> None:
    """Start the counters that name and number things anew, so that an execution does not depend on earlier ones."""
    forget_threads()
    _state["serial"] = itertools.count(1).__next__  # a set's order depends on the numbers, not only on theirs
    module: Any = threading
    if hasattr(module, "_counter"):
        module._counter = itertools.count(1).__next__  # noqa: SLF001 - what names Thread-1
    executor: Any = concurrent.futures.ThreadPoolExecutor
    executor._counter = itertools.count().__next__  # noqa: SLF001 - what names ThreadPoolExecutor-0


def _sweep() -> None:
    replacements: dict[int, Any] = {id(real): dual for real, dual in CLOCKS.values()}
    replacements[id(REAL_START_NEW_THREAD)] = start_new_thread
    replacements[id(REAL_GET_IDENT)] = identity
    replacements[id(_thread.allocate_lock)] = Lock
    replacements[id(_RAW_LOCK)] = Lock
    replacements[id(_thread.RLock)] = RLock
    replacements[id(_queue.SimpleQueue)] = SimpleQueue
    fresh = [(name, module) for name, module in list(sys.modules.items()) if name not in _swept]
    for name, module in fresh:
        _swept.add(name)
        if type(module) is not types.ModuleType or name in {"_thread", "_queue", "time"} or name.startswith(_OURS):
            continue
        _sweep_namespace(module, module.__dict__, replacements)
        for value in list(module.__dict__.values()):
            if isinstance(value, type) and getattr(value, "__module__", "") == name and not _is_ours(value):
                _sweep_namespace(value, dict(value.__dict__), replacements)
    if fresh:
        gc.collect()


def _is_ours(value: type) -> bool:
    return value.__module__.startswith(_OURS)


def _sweep_namespace(owner: Any, names: dict[str, Any], replacements: dict[int, Any]) -> None:
    for attribute, value in list(names.items()):
        dual = replacements.get(id(value))
        if dual is None and isinstance(value, _RAW_LOCK) and not value.locked():
            dual = Lock(value)
        elif dual is None and isinstance(value, _thread.RLock) and not _held(value):
            dual = RLock(value)
        if dual is None or (
            owner is threading
            and attribute in {"_allocate_lock", "_shutdown_locks_lock", "_active_limbo_lock", "_start_new_thread"}
        ):
            continue
        try:
            setattr(owner, attribute, dual)
        except (AttributeError, TypeError):
            logging.getLogger(__name__).debug("cannot replace %s", attribute)


def _held(lock: Any) -> bool:
    return "locked" in repr(lock) and "unlocked" not in repr(lock)
