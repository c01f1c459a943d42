"""The scheduler of one controlled execution: who may run, who waits for what, what time it is.

Exactly one controlled thread runs at a time: it holds the token. At each decision point it asks the strategy who goes
next and passes that thread's baton on. All fields are touched by the token's holder alone, so there is no lock here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Any

from harness.engine.carriers.carrier import Baton, Carriers
from harness.engine.causality import Causality, Races
from harness.engine.happens_before import SyncLog
from harness.engine.strategies.scripted import default_choice, position
from harness.engine.strategies.strategy import Chooser
from harness.engine.threads import CONTROLLED, Controlled, ExecutionAbortedError, State

__all__ = ["Scheduler"]

CLOCK_READ_NS = 1_000
"""Each read of a controlled clock moves it, so that a loop that polls the clock ends."""
POLLS_A_DOUBLING = 100
"""Reads of the clock in a row with nothing observed, after which each moves it twice as far."""
MOST_DOUBLINGS = 30
IDLE_WAKES = 200
"""Time-outs in a row, with nobody else able to move and nothing observed, before the threads count as at rest."""
QUIET_UNTIL_FAIR = 1_000
"""Steps in a row with nothing observed, after which the kernel itself chooses, and fairly."""
QUIET_UNTIL_REST = 50_000
"""So many of them, nearly all of them fair, and whoever still runs is spinning: the execution counts as at rest.

Who goes over thousands of shared things, one by one at the granularity of statements, may have that much to do.
"""


class Scheduler:
    """What controlled threads call. The kernel, which drives it from outside, is made of it.

    `points` counts the decision points that had a choice, `choices` records those where the default was not taken,
    `limit` ends an execution that has more points than that (`out_of_budget` is then set).

    Where nothing is observed for long, the kernel chooses in the strategy's place, whoever ran longest ago: no thread
    is starved by one that polls (`was_fair` is then set). Who goes on all the same is `spinning`, and at rest
    `rest_after` so many steps. `releases_decide`: there is a decision point before each release of a lock, too. Who
    waits for a lock cannot tell a release from one a moment later; who tries it, for a time or not at all, can, and
    sets `holding_shows`. `on_switch` is called on the thread that gives the token up, with that thread and the next.
    """

    points = 0
    steps = 0
    rounds = 0
    now_ns = 0
    idle_wakes = 0
    services_started = 0
    rest_after = QUIET_UNTIL_REST
    at_statements = False
    releases_decide = True
    holding_shows = False
    pruned = False
    out_of_budget = False
    real_time_mattered = False
    was_fair = False
    escaped = ""

    def __init__(self, carriers: Carriers, chooser: Chooser, limit: int = 20_000) -> None:
        self._carriers = carriers
        self._choose = chooser.choose
        self._limit = limit
        self._step_limit = 10 * limit
        self._quiet_since = 0
        self._alert = min(QUIET_UNTIL_FAIR, limit)
        self._fair = False
        self._ready: list[Controlled] = []
        self._timers: list[Controlled] = []
        self._native: list[Controlled] = []
        self._control = carriers.control
        self._unwinding: Controlled | None = None
        self._running: Controlled | None = None
        self.threads: list[Controlled] = []
        self.choices: list[tuple[int, int, int]] = []
        self.sync = SyncLog()
        self.causality: Causality | None = None
        self.pasts: Causality | None = None
        self.spinning: tuple[Controlled, ...] = ()
        self.on_switch: Callable[[Controlled | None, Controlled], None] | None = None

    # -- threads ------------------------------------------------------------------------------------------------------

    def spawn(
        self,
        name: str,
        body: Callable[[Any], object],
        *,
        role: str,
        daemon: bool = False,
        thread: Any = None,
        parent: Controlled | None = None,
    ) -> Controlled:
        """Make a controlled thread, which calls `body(thread)`; it can be chosen from now on."""
        controlled = Controlled(self, len(self.threads), name, role=role, daemon=daemon, thread=thread)
        controlled.body = body
        controlled.baton = self._carriers.start(controlled, self._carry)
        controlled.ident = controlled.baton.ident
        self.threads.append(controlled)
        self._ready.append(controlled)
        if self.pasts is not None:
            self.pasts.started(controlled, parent)
            self.causality = self.pasts if len(self.threads) > 1 else None
        return controlled

    def track(self, races: Races | None) -> None:
        """Have pasts hashed and `races` told, from the second thread on; None, of most strategies, asks for neither."""
        if races is not None:
            self.pasts = Causality(races)

    def _carry(self, me: Controlled, baton: Baton) -> None:
        body = me.body
        del me.body
        CONTROLLED[me.ident] = me
        try:
            if not me.aborted:
                # A thread begins with no context variable set, whatever its carrier carried before.
                Context().run(body, me.thread)
        except ExecutionAbortedError:
            pass
        except BaseException as error:  # noqa: BLE001 - how a thread of the code under test died is data
            me.died_of = error
        finally:
            del CONTROLLED[me.ident]
        if self._unwinding is not me and me.aborted:
            return  # given up on long ago: nobody waits for this carrier any more
        me.state = State.DONE
        self.sync.note((me, me, True))
        self.touch(me, me.thread)
        if me in self._ready:
            self._ready.remove(me)
        for joiner in me.joiners:
            self.wake(joiner)
        self._carriers.retire(baton)
        if self._unwinding is me:
            self._control.pass_on()
        else:
            self._hand_over(me, ended=True)

    # -- decision points ----------------------------------------------------------------------------------------------

    def point(self, me: Controlled) -> None:
        """A decision point: the strategy may let another thread go first."""
        if me.aborted:
            raise ExecutionAbortedError
        self.steps += 1
        me.steps += 1
        me.step = me.past
        if self.steps >= self._alert:
            self._look(me)
        if self._timers or self._fair:
            chosen = self._decide(me)
        elif len(self._ready) > 1:  # as in _decide, for the case that is nearly all of them
            self.points += 1
            picked = self._choose(me, self._ready, None)
            if picked is me:
                return
            if picked is None:
                self.pruned = True
                self._give_up(me)
                return
            chosen = picked
            self.choices.append((me.number, me.steps, chosen.number))
        else:
            return
        if chosen is not me:
            self._switch(me, chosen)

    def _switch(self, me: Controlled, chosen: Controlled) -> None:
        if self.on_switch is not None:
            self.on_switch(me, chosen)
        self._running = chosen
        me.baton.hand_to(chosen.baton)
        if me.aborted:
            raise ExecutionAbortedError

    def _look(self, me: Controlled) -> None:
        """Every so many steps: whether the execution goes on, and whether it gets anywhere."""
        if self.out_of_budget or self.steps > self._step_limit or self.points > self._limit:
            self._give_up(me)
        quiet = self.steps - self._quiet_since
        if quiet >= self.rest_after:
            self._rest(me)
        elif quiet >= QUIET_UNTIL_FAIR:
            self._fair = self.was_fair = True
        self._set_alert()

    def _set_alert(self) -> None:
        quiet = self._quiet_since + (self.rest_after if self._fair else QUIET_UNTIL_FAIR)
        self._alert = min(quiet, self.steps + 1 + max(0, self._limit - self.points), self._step_limit + 1)

    def _rest(self, me: Controlled) -> None:
        """Give the token back to the kernel's own thread although somebody could go on: it would for ever."""
        self.spinning = tuple(self._ready)
        self._running = None
        self._control.pass_on()
        me.baton.take()
        if me.aborted:
            raise ExecutionAbortedError

    def observed(self) -> None:
        """Something was observed: the threads are not at rest."""
        self.idle_wakes = 0
        self._quiet_since = self.steps
        self._fair = False
        self._set_alert()

    def access(self, me: Controlled, what: object, name: str, *, write: bool) -> None:
        """An access that instrumented code reports, just before it is made: a decision point, if statements are."""
        if self.at_statements:
            self.point(me)
        self.touch(me, what, name, write=write)

    def look(self, me: Controlled, what: object) -> None:
        """A look at something without a lock: a decision point, and a read."""
        self.point(me)
        self.touch(me, what, write=False)

    def touch(self, me: Controlled, what: object, name: str = "", *, write: bool = True) -> None:
        """Note that a thread reads or writes something that others may: a search must know what conflicts."""
        if self.causality is not None:
            self.causality.access(me, what, name, "" if write else "read")

    def touch_among(self, me: Controlled, what: object, name: str, group: str) -> None:
        """Note an access that commutes with those of its own group, and with no other; "" is the group of writes."""
        if self.causality is not None:
            self.causality.access(me, what, name, group)

    def block(self, me: Controlled, waits_for: object, timeout: float | None = None) -> bool:
        """Wait until another thread wakes this one, or the time-out fires: False then. Virtual seconds."""
        if me.aborted:
            raise ExecutionAbortedError
        me.state = State.BLOCKED
        me.waits_for = waits_for
        me.fired = False
        self._ready.remove(me)
        if self.causality is not None:
            self.causality.waits(me, waits_for)
        if timeout is not None:
            self.set_timer(me, timeout)
        self._hand_over(me)
        me.step = me.past
        return not me.fired

    def set_timer(self, me: Controlled, seconds: float) -> None:
        """Have time be over for a thread that cannot go on, so many virtual seconds from now."""
        self.touch(me, self, "clock", write=False)
        me.deadline_ns = self.now_ns + max(0, round(seconds * 1e9))
        self._timers.append(me)

    def _forget_timer(self, thread: Controlled) -> None:
        if thread.deadline_ns is not None:
            thread.deadline_ns = None
            self._timers.remove(thread)
            if self.causality is not None:
                self.causality.spares(self._running)

    def _time_is_over(self, thread: Controlled) -> None:
        thread.deadline_ns = None
        self._timers.remove(thread)
        if thread.state is State.NATIVE:
            self.end_native(thread)
        else:
            self.wake(thread)
        thread.fired = True

    def wake(self, thread: Controlled) -> None:
        """Make a blocked thread ready; one that is ready already stays so."""
        if thread.state is not State.BLOCKED:
            return
        thread.state = State.READY
        thread.waits_for = None
        self._forget_timer(thread)
        self._ready.append(thread)

    def _hand_over(self, me: Controlled, *, ended: bool = False) -> None:
        """Let somebody else go, or the kernel's own thread if nobody can; come back when `me` is chosen."""
        me.steps += 1
        chosen = self._next(me)
        if chosen is None or ended:
            self._running = chosen
            if chosen is not None and self.on_switch is not None:
                self.on_switch(me, chosen)
            (self._control if chosen is None else chosen.baton).pass_on()
            if ended:
                return
            me.baton.take()
        elif chosen is not me:
            self._switch(me, chosen)
        if me.aborted:
            raise ExecutionAbortedError

    def _next(self, by: Controlled | None) -> Controlled | None:
        """Who goes next when `by` cannot go on; None if nobody can, or the execution is over."""
        if not self._ready and not self._timers and self._native:
            self.real_time_mattered = True
            self.expect_return(self._native[0])
        if not self._ready and not self._timers:
            return None
        if self.out_of_budget or (not self._ready and self._idle()):
            return None
        if not self._timers and len(self._ready) == 1:
            return self._ready[0]
        return self._decide(by)

    def _idle(self) -> bool:
        """Whether only timers move any more, again and again, with nothing observed: polling workers at rest."""
        self.idle_wakes += 1
        return self.idle_wakes > IDLE_WAKES

    def _decide(self, by: Controlled | None) -> Controlled:
        timer = min(self._timers, key=_due) if self._timers else None
        if self._fair:
            chosen = self._fairest(timer)
        elif timer is None or self._ready:
            self.points += 1
            if self.points > self._limit:
                self._give_up(by)
            chosen = self._ask(by, timer)
        else:
            chosen = timer
        if chosen is timer:
            self._fire(chosen)
        return chosen

    def _ask(self, by: Controlled | None, timer: Controlled | None) -> Controlled:
        """Ask the strategy, and record what a replay could not know."""
        chosen = self._choose(by, self._ready, timer)
        if chosen is None:
            self.pruned = True
            self._give_up(by)
            return default_choice(by, self._ready, timer)
        if chosen is not default_choice(by, self._ready, timer):
            who, step = position(by, self._ready, timer)
            self.choices.append((who, step, chosen.number))
        return chosen

    def _fairest(self, timer: Controlled | None) -> Controlled:
        """Who ran longest ago. It depends on the execution so far alone, so that a replay need not be told."""
        candidates = self._ready if timer is None else [*self._ready, timer]
        chosen = min(candidates, key=lambda thread: (thread.ran_at, thread.number))
        chosen.ran_at = self.steps
        return chosen

    def _give_up(self, by: Controlled | None) -> None:
        """End the execution; a thread that could go on stays where it is, for one that cannot its caller cares."""
        self.out_of_budget = True
        if by is not None and by.state is State.READY:
            self._running = None
            self._control.pass_on()
            by.baton.take()
            raise ExecutionAbortedError

    def _fire(self, thread: Controlled) -> None:
        assert thread.deadline_ns is not None, "only a thread with a deadline is a timer"
        self.now_ns = max(self.now_ns, thread.deadline_ns)
        self.touch(thread, self, "clock")
        self._time_is_over(thread)

    # -- time ---------------------------------------------------------------------------------------------------------

    def read_clock(self, me: Controlled) -> int:
        """The virtual nanoseconds since the execution began; reading them moves them, and fires what is then due.

        Where somebody polls the clock and nothing else is observed, each read moves it further: the poll shall end.
        """
        quiet = self.steps - self._quiet_since - QUIET_UNTIL_FAIR
        moved = self.now_ns + (CLOCK_READ_NS << min(max(0, quiet // POLLS_A_DOUBLING), MOST_DOUBLINGS))
        if self._timers:
            moved = min(moved, max(self.now_ns + CLOCK_READ_NS, _due(min(self._timers, key=_due))[0]))
        self.now_ns = moved
        self.touch(me, self, "clock")
        for thread in [thread for thread in self._timers if _due(thread)[0] <= moved]:
            self._time_is_over(thread)
        return moved

    # -- native calls that are held -----------------------------------------------------------------------------------

    def expect_return(self, thread: Controlled) -> None:
        """The harness has made this thread's native call end: its return can be chosen from now on."""
        if thread.state is State.NATIVE:
            self._native = [each for each in self._native if each is not thread]
            self._forget_timer(thread)
            thread.state = State.READY
            self._ready.append(thread)

    def end_native(self, thread: Controlled) -> None:
        """The virtual time of a native call is over: make it return. `NativeCalls` says how."""
        self.expect_return(thread)


def _due(thread: Controlled) -> tuple[int, int]:
    return (thread.deadline_ns or 0, thread.number)
