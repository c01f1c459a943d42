"""All fault families by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.faults.allocation_failure import ALLOCATION_FAILURE
from harness.faults.bind_failure import BIND_FAILURE
from harness.faults.clock_jump import CLOCK_JUMP
from harness.faults.close_failure import CLOSE_FAILURE
from harness.faults.close_hang import CLOSE_HANG
from harness.faults.compile_timeout import COMPILE_TIMEOUT
from harness.faults.context_lost import CONTEXT_LOST
from harness.faults.delegate_create_failure import DELEGATE_CREATE_FAILURE
from harness.faults.delegate_init_failure import DELEGATE_INIT_FAILURE
from harness.faults.delegate_prepare_failure import DELEGATE_PREPARE_FAILURE
from harness.faults.device_reset import DEVICE_RESET
from harness.faults.fault import Fault
from harness.faults.fetch_failure import FETCH_FAILURE
from harness.faults.lost_fence import LOST_FENCE
from harness.faults.mapping_failure import MAPPING_FAILURE
from harness.faults.nan_output import NAN_OUTPUT
from harness.faults.persistent_run_failure import PERSISTENT_RUN_FAILURE
from harness.faults.poison_request import POISON_REQUEST
from harness.faults.prepared_asset_mismatch import PREPARED_ASSET_MISMATCH
from harness.faults.run_failure import RUN_FAILURE
from harness.faults.run_hang import RUN_HANG
from harness.faults.run_timeout import RUN_TIMEOUT
from harness.faults.session_open_failure import SESSION_OPEN_FAILURE
from harness.faults.slow_run import SLOW_RUN
from harness.faults.stale_output import STALE_OUTPUT
from harness.faults.truncated_output import TRUNCATED_OUTPUT
from harness.faults.worker_death import WORKER_DEATH
from harness.faults.wrong_output import WRONG_OUTPUT
from harness.faults.wrong_shape import WRONG_SHAPE

__all__ = ["FAMILIES", "FAULTS"]

FAMILIES: Mapping[str, Fault] = MappingProxyType(
    {
        fault.name: fault
        for fault in (
            ALLOCATION_FAILURE,
            BIND_FAILURE,
            CLOCK_JUMP,
            CLOSE_FAILURE,
            CLOSE_HANG,
            COMPILE_TIMEOUT,
            CONTEXT_LOST,
            DELEGATE_CREATE_FAILURE,
            DELEGATE_INIT_FAILURE,
            DELEGATE_PREPARE_FAILURE,
            DEVICE_RESET,
            FETCH_FAILURE,
            LOST_FENCE,
            MAPPING_FAILURE,
            NAN_OUTPUT,
            PERSISTENT_RUN_FAILURE,
            POISON_REQUEST,
            PREPARED_ASSET_MISMATCH,
            RUN_FAILURE,
            RUN_HANG,
            RUN_TIMEOUT,
            SESSION_OPEN_FAILURE,
            SLOW_RUN,
            STALE_OUTPUT,
            TRUNCATED_OUTPUT,
            WORKER_DEATH,
            WRONG_OUTPUT,
            WRONG_SHAPE,
        )
    }
)
FAULTS: Mapping[str, str] = {name: fault.says for name, fault in FAMILIES.items()}
"""Each fault's name, with one line for people."""
