"""The native fault library, as the seam of one execution uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.fault import NativeStrike
from harness.faults.native.library import NativeCounters, NativeFaults, Point
from harness.history import Attr

__all__ = ["NativeStrikes", "Parked"]

HANG_SECONDS = 60.0
"""Real time after which a held call gives up: only a defect of ours lets it come to that."""
LOOK_SECONDS = 0.02
_FALSIFIES = frozenset({"wrong", "stale", "nan"})


class NativeStrikes:
    """Strikes inside native code. Touched by the thread that holds the token alone, but for `Parked.wait`.

    A fault is armed just before the call that it is for, and forgotten just after it: what it does not strike then it
    strikes never.
    """

    def __init__(self, library: NativeFaults) -> None:
        self._library = library
        library.reset()
        self._live_before = _live(library.counters())
        self.missed: list[str] = []
        """The faults that never reached native code, though nobody had interrupted the call before."""
        self.struck = True
        """Whether the last strike reached native code; of a hang, `Parked.entered` says it."""
        self.threads_bound = False
        """Whether what is opened now runs on the thread that opens it alone."""

    @property
    def newest(self) -> int:
        """The number of the instance that was made last."""
        return self._library.counters().newest_instance

    def counters(self) -> NativeCounters:
        """What was counted in this execution."""
        return self._library.counters()

    @property
    def live(self) -> int:
        """How many more native instances are alive than when the execution began."""
        return _live(self._library.counters()) - self._live_before

    def attrs(self) -> dict[str, Attr]:
        """What the history keeps of the counters: what is live now, and what was done since the execution began."""
        now = self._library.counters()
        return {
            "live": self.live,
            "invokes": now.invokes,
            "strikes": now.strikes,
            "foreign_invokes": now.foreign_invokes,
        }

    def strike(self, native: NativeStrike, instance: int, call: Callable[[], Any]) -> Any:
        """Make a call with a fault armed in it."""
        library = self._library
        self.struck = True
        if native.kind == "bind-threads":
            library.bind_threads()
            self.threads_bound = True
            return call()
        before = library.counters().strikes
        library.arm(
            native.kind,
            point=self._point(native.at),
            seconds=HANG_SECONDS,
            instance=instance if native.at == "invoke" else None,
        )
        try:
            return call()
        finally:
            library.disarm()
            self.struck = native.kind == "hang" or library.counters().strikes > before

    def falsifies(self, native: NativeStrike) -> bool:
        """Whether what is struck by it returns other outputs."""
        return native.kind in _FALSIFIES

    def park(self, instance: int) -> Parked:
        """What is needed to hold the next call of this instance at the library's gate."""
        return Parked(self._library, instance)

    def end(self) -> None:
        """Let go of everything."""
        self._library.reset()

    def _point(self, point: Point) -> Point:
        """A runtime without this step makes its kernel then."""
        return point if point in self._library.points else "init"


def _live(counters: NativeCounters) -> int:
    return max(counters.live_delegates, counters.live_kernels)


class Parked:
    """One call that hangs inside native code until it is let go.

    `is_over`: the call has returned. `entered`: it was seen at the gate. `gave_up`: it left the gate by itself.
    """

    def __init__(self, library: NativeFaults, instance: int) -> None:
        counters = library.counters()
        self._library = library
        self._instance = instance
        self._held = counters.held
        self._gate_timeouts = counters.gate_timeouts
        self.is_over = False
        self.entered = False

    def wait(self) -> None:
        """Wait in real time until the call is at the gate, or over. Called while nobody else moves."""
        while not self.is_over and not self.entered:
            self.entered = self._library.wait_held(self._held + 1, seconds=LOOK_SECONDS)

    def let_go(self) -> None:
        """Open the gate for this instance's calls."""
        self._library.let_go(self._instance)

    def pass_through(self) -> None:
        """Wait until the call is at the gate, and let it go at once."""
        self.wait()
        if self.entered:
            self.let_go()

    @property
    def gave_up(self) -> bool:
        """Whether a call left the gate because it had waited too long."""
        return self._library.counters().gate_timeouts != self._gate_timeouts
