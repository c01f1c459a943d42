"""All fault families by name."""

from __future__ import annotations

from collections.abc import Mapping

from harness.faults.delegate_init_failure import DELEGATE_INIT_FAILURE
from harness.faults.fault import Fault
from harness.faults.run_failure import RUN_FAILURE
from harness.faults.run_timeout import RUN_TIMEOUT
from harness.faults.session_open_failure import SESSION_OPEN_FAILURE
from harness.faults.slow_run import SLOW_RUN

__all__ = ["FAMILIES", "FAULTS"]

FAMILIES: Mapping[str, Fault] = {
    fault.name: fault for fault in (DELEGATE_INIT_FAILURE, RUN_FAILURE, RUN_TIMEOUT, SESSION_OPEN_FAILURE, SLOW_RUN)
}
FAULTS: Mapping[str, str] = {name: fault.says for name, fault in FAMILIES.items()}
"""Each fault's name, with one line for people."""
