"""The evidence looks at where the task was accepted, and says that the queue has its buffers.
They are bound to the session, and whoever frees them by that pulls them from under the call.
The twin looks at the slot.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "evidence-true"
SCENARIOS = ("wait-in-vain-leaves-its-evidence",)


class AsAccepted(ObservableQueue):
    def holder(self, holder):
        return "queue" if holder.startswith("slot") else holder


specimen, twin = AsAccepted, ObservableQueue
