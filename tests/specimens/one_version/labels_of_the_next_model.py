"""The list of labels is the new model's as soon as the switch is asked for, while the old one still runs.
Its results are put into an order that it does not have: the version is true, and the answer is the other model's.
The twin puts each result into the order of the model that gave it.
"""

from pathlib import Path
from runpy import run_path

import numpy as np

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]
settle_unless_cancelled = parts["settle_unless_cancelled"]

INVARIANT = "one-version"
SCENARIOS = ("switch-under-load",)

FIRST = [(5 * place + 3) % 16 for place in range(16)]
NEXT = [(3 * place + 6) % 16 for place in range(16)]
LABELS = {"v1": FIRST, "v2": NEXT, "v3": FIRST}
"""Which feature each place of a version's outputs is: of `builtin:permutation`, and of the one that comes after it."""


class Labelled(SwitchingQueue):
    def run(self, session, inputs, future):
        if future.start():
            future.model_version = self.version
            settle_unless_cancelled(future, self.labelled, session, inputs)

    def labelled(self, session, inputs):
        version = self.version
        return {name: self.in_order(by_feature(array, version)) for name, array in session.run(inputs).items()}

    def in_order(self, features):
        return features[..., LABELS[self.version]]


class Early(Labelled):
    def prepare(self):
        super().prepare()
        self.labels = LABELS[self.version]

    def place(self, switch):
        self.labels = LABELS[switch.version]
        super().place(switch)

    def in_order(self, features):
        return features[..., self.labels]


def by_feature(array, version):
    features = np.empty_like(array)
    features[..., LABELS[version]] = array
    return features


specimen, twin = Early, Labelled
