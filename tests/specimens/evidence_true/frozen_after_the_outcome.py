"""The task is failed first, and what is known of it written down afterwards.
The client that asks at once what went wrong finds nothing.
The twin writes first, under the same lock.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "evidence-true"
SCENARIOS = ("error-leaves-its-evidence",)


class Later(ObservableQueue):
    def run(self, session, request):
        super().run(session, request)
        for freeze in self.later:
            with self.changed:
                freeze()
        self.later.clear()

    def prepare(self):
        super().prepare()
        self.later = []

    def freeze(self, future, kind, error):
        if kind != "failed":
            super().freeze(future, kind, error)
            return
        self.later.append(lambda: super(Later, self).freeze(future, kind, error))


specimen, twin = Later, ObservableQueue
