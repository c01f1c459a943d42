"""For a while after a switch both versions run, and the result is put together from halves, for a smooth change.
Neither model gave that answer; with one model under two names nobody would see it.
The twin delivers what one version gave.
"""

from pathlib import Path
from runpy import run_path

import numpy as np

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]

INVARIANT = "own-output"
SCENARIOS = ("switch-under-load",)


class Both:
    def __init__(self, old, new):
        self.old = old
        self.new = new

    def run(self, inputs):
        old, new = self.old.run(inputs), self.new.run(inputs)
        halves = {name: np.array_split(array, 2, axis=-1)[0] for name, array in old.items()}
        return {
            name: np.concatenate([halves[name], array[..., halves[name].shape[-1] :]], axis=-1)
            for name, array in new.items()
        }

    def close(self):
        self.old.close()
        self.new.close()


class Kept:
    def __init__(self, session):
        self.session = session
        self.run = session.run

    def close(self):
        pass


class Smooth(SwitchingQueue):
    def change_over(self, session, switch):
        newer = super().change_over(Kept(session), switch)
        return session if isinstance(newer, Kept) else Both(session, newer)


specimen, twin = Smooth, SwitchingQueue
