"""The bytes of an input are taken for values in the machine's own byte order, whatever the array says.
A caller on the other side of the wire gets an answer to noise.
The twin leaves the array as it is, and the adapter refuses it.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "contract-first"
SCENARIOS = ("malformed-input",)


class Misreading(BoundedQueue):
    def take_over(self, inputs):
        return {name: array.view(array.dtype.newbyteorder("=")).copy() for name, array in inputs.items()}


specimen, twin = Misreading, BoundedQueue
