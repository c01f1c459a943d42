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
from harness.faults.memory_cap import MEMORY_CAP
from harness.faults.nan_output import NAN_OUTPUT
from harness.faults.native.abort import NATIVE_ABORT
from harness.faults.native.bus_error import NATIVE_BUS_ERROR
from harness.faults.native.create_failure import NATIVE_CREATE_FAILURE
from harness.faults.native.hang import NATIVE_HANG
from harness.faults.native.nan_output import NATIVE_NAN_OUTPUT
from harness.faults.native.prepare_failure import NATIVE_PREPARE_FAILURE
from harness.faults.native.run_failure import NATIVE_RUN_FAILURE
from harness.faults.native.segfault import NATIVE_SEGFAULT
from harness.faults.native.slow import NATIVE_SLOW
from harness.faults.native.stale_output import NATIVE_STALE_OUTPUT
from harness.faults.native.thread_bound import NATIVE_THREAD_BOUND
from harness.faults.native.wrong_output import NATIVE_WRONG_OUTPUT
from harness.faults.out_of_memory_kill import OUT_OF_MEMORY_KILL
from harness.faults.persistent_run_failure import PERSISTENT_RUN_FAILURE
from harness.faults.poison_request import POISON_REQUEST
from harness.faults.prepared_asset_mismatch import PREPARED_ASSET_MISMATCH
from harness.faults.process_abort import PROCESS_ABORT
from harness.faults.process_bus_error import PROCESS_BUS_ERROR
from harness.faults.process_segfault import PROCESS_SEGFAULT
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
            MEMORY_CAP,
            NAN_OUTPUT,
            NATIVE_ABORT,
            NATIVE_BUS_ERROR,
            NATIVE_CREATE_FAILURE,
            NATIVE_HANG,
            NATIVE_NAN_OUTPUT,
            NATIVE_PREPARE_FAILURE,
            NATIVE_RUN_FAILURE,
            NATIVE_SEGFAULT,
            NATIVE_SLOW,
            NATIVE_STALE_OUTPUT,
            NATIVE_THREAD_BOUND,
            NATIVE_WRONG_OUTPUT,
            OUT_OF_MEMORY_KILL,
            PERSISTENT_RUN_FAILURE,
            POISON_REQUEST,
            PREPARED_ASSET_MISMATCH,
            PROCESS_ABORT,
            PROCESS_BUS_ERROR,
            PROCESS_SEGFAULT,
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
