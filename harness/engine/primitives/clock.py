"""The clocks and sleep, dual-mode: a controlled thread sees virtual time, and its sleep takes none of ours."""

from __future__ import annotations

import time  # noqa: TID251 - the engine replaces it
from datetime import UTC, timedelta, tzinfo
from datetime import datetime as _RealDatetime  # noqa: N812 - the type that ours stands for
from typing import Any

from harness.engine.threads import current

__all__ = ["CLOCKS", "ControlledDatetime", "library_clock"]

EPOCH_NS = 1_767_225_600 * 1_000_000_000
"""Where virtual wall time begins: 2026-01-01T00:00:00Z, the same in every execution."""

_sleep, _monotonic = time.sleep, time.monotonic


def library_clock() -> float:
    """`time.monotonic` for the library's own waits, which read it under their lock: no decision point."""
    me = current()
    return _monotonic() if me is None else me.kernel.read_clock(me) / 1e9


def _clock(real: Any, base_ns: int, *, nanoseconds: bool) -> Any:
    def read() -> float | int:
        me = current()
        if me is None:
            return real()
        me.kernel.point(me)
        now = base_ns + me.kernel.read_clock(me)
        return now if nanoseconds else now / 1e9

    read.__name__ = real.__name__
    return read


def sleep(seconds: float) -> None:
    """Sleep; in virtual time on a controlled thread, where a sleep of 0 lets others go first."""
    me = current()
    if me is None:
        _sleep(seconds)
        return
    if seconds < 0:
        message = "sleep length must be non-negative"
        raise ValueError(message)
    if seconds == 0:
        me.kernel.point(me)
    else:
        me.kernel.block(me, "sleep", seconds)


class _Meta(type(_RealDatetime)):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _RealDatetime)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _RealDatetime)


class ControlledDatetime(_RealDatetime, metaclass=_Meta):
    """`datetime.datetime` whose `now` and `utcnow` are dual-mode; every instance is a plain datetime."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a plain datetime: the name is replaced, the type is not."""
        return _RealDatetime(*args, **kwargs)  # noqa: DTZ001 - the caller chooses the zone

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        """The wall time now."""
        me = current()
        if me is None:
            return _RealDatetime.now(tz)
        me.kernel.point(me)
        start = _RealDatetime.fromtimestamp(EPOCH_NS / 1e9, tz)
        return start + timedelta(microseconds=me.kernel.read_clock(me) // 1000)

    @classmethod
    def utcnow(cls) -> Any:
        """The wall time now in UTC, without a zone."""
        return cls.now(UTC).replace(tzinfo=None)


CLOCKS: dict[str, tuple[Any, Any]] = {
    "time": (time.time, _clock(time.time, EPOCH_NS, nanoseconds=False)),
    "time_ns": (time.time_ns, _clock(time.time_ns, EPOCH_NS, nanoseconds=True)),
    "monotonic": (time.monotonic, _clock(time.monotonic, 0, nanoseconds=False)),
    "monotonic_ns": (time.monotonic_ns, _clock(time.monotonic_ns, 0, nanoseconds=True)),
    "perf_counter": (time.perf_counter, _clock(time.perf_counter, 0, nanoseconds=False)),
    "perf_counter_ns": (time.perf_counter_ns, _clock(time.perf_counter_ns, 0, nanoseconds=True)),
    "sleep": (_sleep, sleep),
}
"""Each clock of the `time` module: the real one and the dual-mode one."""
