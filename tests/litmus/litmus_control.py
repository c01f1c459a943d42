"""Runs litmus programs under control, and collects every outcome."""

import concurrent.futures
import gc
import queue
import threading
from dataclasses import dataclass, field

from harness.engine.carriers.greenlets import GreenletCarriers
from harness.engine.carriers.os_thread import OsThreadCarriers
from harness.engine.install import install, reset_names
from harness.engine.instrument.loader import refit
from harness.engine.kernel import Kernel
from harness.engine.primitives.thread import start_controlled
from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.strategies.random_walk import RandomWalk
from harness.engine.threads import State

_LIBRARY = (queue, concurrent.futures._base, concurrent.futures.thread)


@dataclass(frozen=True)
class Outcome:
    """How one execution ended: what the program returned, who was left, and which threads died of what."""

    result: str
    left: tuple[str, ...]
    died: tuple[str, ...]


@dataclass
class Space:
    """What a search saw. `whole`: it ended because nothing was left within the bound."""

    outcomes: dict[Outcome, tuple] = field(default_factory=dict)
    executions: int = 0
    whole: bool = False

    @property
    def results(self):
        return {outcome.result for outcome in self.outcomes}


class _Patient(Exhaustive):
    """Lets no time-out fire while anybody can go on."""

    def choose(self, by, ready, timer):
        return super().choose(by, ready, None if ready else timer)


class Control:
    """Runs programs under control, on one kind of carrier."""

    def __init__(self, kind):
        install()
        self.carriers = GreenletCarriers() if kind == "greenlets" else OsThreadCarriers()

    def once(self, program, strategy, *, statements=False, limit=20_000):
        """One execution: its outcome, None if it was given up, and its kernel."""
        gc.disable()  # as the harness does: who hears of collections, as hypothesis does, reads the clock
        try:
            return self._once(program, strategy, statements, limit)
        finally:
            gc.enable()

    def _once(self, program, strategy, statements, limit):
        reset_names()
        kernel = Kernel(self.carriers, strategy, limit)
        kernel.track(strategy.races)
        kernel.at_statements = statements
        results = []
        thread = threading.Thread(target=lambda: results.append(program.run([])))
        start_controlled(kernel, thread, name="main", role="actor")
        kernel.go()
        assert kernel.stalled is None, "a litmus program never escapes control"
        left = tuple(sorted(each.name for each in kernel.threads if each.state is not State.DONE))
        died = tuple(sorted(f"{each.name}: {each.died_of!r}" for each in kernel.threads if each.died_of is not None))
        result = repr(results[0]) if results else "nothing"
        cut = kernel.out_of_budget
        assert kernel.abort_rest(), "every thread unwinds"
        strategy.end(kernel.points)
        return None if cut else Outcome(result, left, died), kernel

    def exhaust(self, program, bound, *, reduce, statements=False, most=1_000_000, patient=False):
        """Every execution within the bound, or the first `most` of them. `patient`: no time-out wins."""
        strategy, space = (_Patient if patient else Exhaustive)(bound, reduce=reduce), Space()
        while space.executions < most and strategy.begin(space.executions):
            outcome, kernel = self.once(program, strategy, statements=statements)
            space.executions += 1
            assert outcome is not None or kernel.pruned, "an execution ends, or is pruned"
            if outcome is not None:
                space.outcomes.setdefault(outcome, tuple(kernel.choices))
        space.whole = strategy.exhausted
        return space

    def walk(self, program, executions, *, seed, statements=False):
        """So many random executions: for each its outcome and its choices."""
        strategy, seen = RandomWalk(seed), []
        for number in range(executions):
            strategy.begin(number)
            outcome, kernel = self.once(program, strategy, statements=statements)
            seen.append((outcome, tuple(kernel.choices)))
        return seen


def instrument_the_library():
    """Let the library's modules report what they share, as a search needs; return what undoes it."""
    before = [(function, function.__code__) for module in _LIBRARY for function in _functions(module)]
    for module in _LIBRARY:
        refit(module)

    def undo():
        for function, code in before:
            function.__code__ = code

    return undo


def _functions(module):
    from harness.engine.instrument.loader import _functions as functions

    return list(functions(module))
