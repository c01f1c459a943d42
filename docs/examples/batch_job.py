"""A batch job: every row must be done, none is in a hurry, and people who use the same model come first.

python docs/examples/batch_job.py
"""

from concurrent.futures import as_completed

import numpy as np

from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service.capacity_estimate import CapacityEstimate
from harness.service.config import ServiceConfig
from harness.service.gated_service import GatedService, TicketObserver
from harness.service.memory_gate import GateConfig, MemoryGate
from harness.service.pool import SessionPool
from harness.service.requests import Ordering, OverflowPolicy, RequestClass

ROWS = 500
ADAPTER = load_adapter("numpy")
MODEL = resolve("builtin:affine", ADAPTER.suffixes)


def open_session(*, fallback=False):
    return ADAPTER.open(MODEL, ADAPTER.default_delegate, {})


rows = RequestClass(name="rows", capacity=16, overflow=OverflowPolicy.BLOCK)
people = RequestClass(name="people", priority=10)
estimate = CapacityEstimate(weights=50_000_000, base=10_000, per_unit=2, reserve=100_000_000)
gate = MemoryGate(GateConfig(estimate=estimate, most_live=64))
tickets = TicketObserver()
config = ServiceConfig(capacity=32, slots=2, classes=(rows, people), ordering=Ordering.PRIORITY, observer=tickets)

with GatedService(SessionPool(open_session, config), gate, observer=tickets) as pool:
    futures = {}
    for number in range(ROWS):
        row = {"x": np.full((1, 8), number, np.float32)}
        futures[pool.submit(row, request_class="rows")] = number  # waits while 16 rows are in line
    asked = pool.submit({"x": np.zeros((1, 8), np.float32)}, request_class="people")
    print("somebody's answer:", asked.result()["y"].shape)
    done = {futures[future]: future.result() for future in as_completed(futures)}

print(f"rows done: {len(done)} of {ROWS}")
print("live requests left:", gate.counters().live)
