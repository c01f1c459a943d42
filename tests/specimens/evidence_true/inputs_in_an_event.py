"""The inputs are kept with the error, to try it again at leisure.
The twin keeps no payload.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "evidence-true"
SCENARIOS = ("error-leaves-its-evidence",)


class WithInputs(ObservableQueue):
    def detail(self, future, error):
        return self.inputs

    def run(self, session, request):
        self.inputs = request.inputs
        super().run(session, request)


specimen, twin = WithInputs, ObservableQueue
