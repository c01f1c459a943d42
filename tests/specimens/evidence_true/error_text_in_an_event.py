"""The text of the error is kept with it, which is so useful, and has a user's words in it one day.
The twin keeps the class.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "evidence-true"
SCENARIOS = ("error-leaves-its-evidence",)


class WithText(ObservableQueue):
    def fail(self, future, error, kind):
        self.text = str(error)
        super().fail(future, error, kind)

    def detail(self, future, error):
        return self.text if error != "TimeoutError" else error


specimen, twin = WithText, ObservableQueue
