"""Whoever finds the queue full waits for a place, without an end.
A batch job that may wait 50 ms hangs behind a stuck device.
The twin refuses when the time is over.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "capacity"
SCENARIOS = ("block-with-a-time-out",)


class Patient(ContractQueue):
    def wait_for_room(self, rules, seconds):
        super().wait_for_room(rules, None)


specimen, twin = Patient, ContractQueue
