"""The fault plan of one execution: what is armed, and what has struck."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.faults.catalogue import FAMILIES
from harness.faults.fault import RUN_POINTS, Fault, Lasts

__all__ = ["POINTS", "Arming", "FaultPlan", "Site", "Strike", "check_arming"]

POINTS = ("session-open", *RUN_POINTS, "session-close")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arming:
    """What a fault waits for: the nth call at its point (None: the family's own) on this session and of this task.

    Empty `session` and `task` mean any. `persistent` strikes every such call from the nth on. With a `probability`
    below 1 a call from the nth on is struck or not by a draw that depends on the `seed` and the call's number alone.
    """

    name: str
    point: str | None = None
    nth: int = 1
    session: str = ""
    task: str = ""
    persistent: bool = False
    probability: float = 1.0
    seed: int = 0


def check_arming(arming: Arming) -> Fault:
    """Give the family. Raises ValueError, with a line for whoever asked for it, where that cannot strike anything."""
    fault = FAMILIES.get(arming.name)
    if fault is None:
        message = f"no fault {arming.name!r}: `racegate list faults` names them"
        raise ValueError(message)
    point = arming.point or fault.point
    problems = (
        (point not in POINTS, f"no point {point!r}: there are {', '.join(POINTS)}"),
        (fault.alter is not None and point != "fetch", f"{fault.name} changes what a fetch returns, nothing else"),
        (fault.native is not None and point != fault.point, f"{fault.name} is in native code, at {fault.point} alone"),
        (arming.nth < 1, "nth counts from 1"),
        (not 0 < arming.probability <= 1, "a probability must be above 0 and at most 1"),
        (bool(arming.task) and point not in RUN_POINTS, f"a {point} belongs to no task"),
    )
    for wrong, message in problems:
        if wrong:
            raise ValueError(message)
    return fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One session call that may be struck.

    `own`: a run on an input that nobody submitted, where others are known: only what is broken for good strikes it.
    `follows`: the session has run before, and what it gave is known. `native`: the native fault library is, or will be,
    in the session. `open_sessions` gives those that are open now.
    """

    point: str
    session: str
    task: str | None
    fallback: bool
    own: bool
    follows: bool
    open_sessions: Callable[[], Collection[str]]
    native: bool = False


class Strike(NamedTuple):
    """What strikes a call. `again`: it struck before, and what it broke then is what this call is on."""

    fault: Fault
    again: bool


@dataclass(slots=True)
class _Armed:
    """A fault that waits for its call, and what it goes on striking."""

    arming: Arming
    fault: Fault
    by_scenario: bool
    seen: int = 0
    struck: bool = False
    tasks: set[str] = field(default_factory=set[str])
    sessions: set[str] = field(default_factory=set[str])

    def strikes(self, site: Site) -> bool:
        """Count one call if it is of those waited for, and say whether the fault strikes it."""
        if not self._waits_for(site):
            return False
        self.seen += 1
        over = self.struck and not self._persistent
        if over or self.seen < self.arming.nth or not self._drawn():
            return False
        self.struck = True
        self._keep(site)
        return True

    def strikes_again(self, site: Site) -> bool:
        """Whether what it struck before is what this call is on."""
        if site.point not in RUN_POINTS:
            return False
        return site.session in self.sessions or (site.task in self.tasks and site.point == self.point)

    @property
    def point(self) -> str:
        return self.arming.point or self.fault.point

    @property
    def _persistent(self) -> bool:
        return self.arming.persistent or self.fault.lasts is Lasts.FOR_GOOD

    def _waits_for(self, site: Site) -> bool:
        arming, fault = self.arming, self.fault
        if site.point != self.point or site.own or (fault.native is not None and not site.native):
            return False
        if (site.fallback and fault.spares_fallback) or (fault.needs_previous and not site.follows):
            return False
        return arming.session in {"", site.session} and arming.task in {"", site.task}

    def _drawn(self) -> bool:
        arming = self.arming
        if arming.probability >= 1:
            return True
        told = hashlib.sha256(f"{arming.name} {self.point} {arming.seed} {self.seen}".encode()).digest()
        return int.from_bytes(told[:8]) < arming.probability * 2**64

    def _keep(self, site: Site) -> None:
        if self.fault.lasts is Lasts.TASK and site.task is not None:
            self.tasks.add(site.task)
        elif self.fault.lasts is Lasts.SESSION:
            self.sessions.add(site.session)
        elif self.fault.lasts is Lasts.DEVICE:
            self.sessions.update(site.open_sessions())


class FaultPlan:
    """Touched by the thread that holds the token alone.

    `interfered`: a fault has struck that the scenario does not know of. `missed` are faults whose call came through
    unharmed.
    """

    def __init__(self) -> None:
        self._armed: list[_Armed] = []
        self.injected: Counter[str] = Counter()
        self.interfered = False
        self.missed: set[str] = set()

    def came_through(self, fault: Fault) -> None:
        """Take back a strike: the call went on as if nothing were there, and nothing is shown by that."""
        self.injected[fault.name] -= 1
        self.injected += Counter()  # drops what is at zero
        self.missed.add(fault.name)

    @property
    def armed(self) -> bool:
        """Whether a call may be struck, so that it matters which comes first."""
        return bool(self._armed)

    @property
    def remembers(self) -> bool:
        """Whether a fault needs to know what a session gave before."""
        return any(armed.fault.needs_previous for armed in self._armed)

    def arm(self, arming: Arming, *, by_scenario: bool = True) -> None:
        """Arm a fault. Raises ValueError: see `check_arming`."""
        self._armed.append(_Armed(arming, check_arming(arming), by_scenario))

    def at(self, site: Site) -> Strike | None:
        """Count a call and return what strikes it."""
        for armed in self._armed:
            again = armed.strikes_again(site)
            if again or armed.strikes(site):
                self.injected[armed.fault.name] += 1
                self.interfered |= not armed.by_scenario
                return Strike(armed.fault, again)
        return None
