"""One task's arrays and its one run: copied on the way in, turned into an outcome on the way out."""

from __future__ import annotations

import traceback
from typing import TypeAlias

import numpy as np

from adapters.base import Array, Arrays, ContractError, Session
from harness.service.errors import RunAbortedError
from harness.service.leases import Lease, LeaseViolationError
from harness.service.outputs import immutable_outputs
from harness.service.run import Run
from harness.service.shapes import ShapePlan

__all__ = ["Attempt", "attempt", "private_copy"]

_RUN = Session.run  # taken apart where it is the one that every session has, and the call can be interrupted

Attempt: TypeAlias = tuple[dict[str, Array] | None, Exception | None]
"""Outputs and no error, or an error and no outputs."""


def private_copy(inputs: Arrays, shapes: ShapePlan | None = None) -> Arrays:
    """Copy the arrays, keeping dtype and byte order as they are. Raises ContractError for what is no numpy array.

    Before anything is copied, so does a shape that is not served. A lease is what the producer may not write to, and
    needs no copy.
    """
    if shapes is not None:
        shapes.check(inputs)
    kind: type = type(inputs)
    if kind is not dict and isinstance(inputs, Lease):  # in this order: an abstract class is slow to say
        return inputs
    copies: dict[str, Array] = {}
    for name, value in inputs.items():
        # Copying would make an array of a list: a cast that nobody asked for and that the adapter could not see.
        if not isinstance(value, np.ndarray):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            message = f"input {name!r}: expected a numpy array, got {type(value).__name__}"
            raise ContractError(message)
        copies[name] = np.array(value)
    return copies


def attempt(session: Session, run: Run) -> Attempt:
    """Run once and return how it went; never raises. The outputs are the task's own, and read-only."""
    inputs = run.inputs
    if type(inputs) is not dict and isinstance(inputs, Lease):  # in this order, as above
        outputs, error = _run_leased(session, run, inputs)
    else:
        outputs, error = _run(session, run)
    if error is not None:
        _clear_locals(error)
    return outputs, error


def _run_leased(session: Session, run: Run, lease: Lease) -> Attempt:
    if not lease.start():
        return None, LeaseViolationError("the lease was over before the run")
    outputs, error = _run(session, run)
    violation = lease.finish()
    return (outputs, error) if violation is None else (None, violation)


def _run(session: Session, run: Run) -> Attempt:
    try:
        if run.session is None or type(session).run is not _RUN:
            return immutable_outputs(session.run(run.inputs), fresh=session.fresh_outputs), None
        return immutable_outputs(_run_in_steps(session, run), fresh=session.fresh_outputs), None
    except Exception as error:  # noqa: BLE001 - a run's failure is its task's outcome
        return None, error
    except BaseException as error:  # noqa: BLE001 - SystemExit must end neither this worker nor whoever asks for the result
        aborted = RunAbortedError(f"the run raised {type(error).__name__}")
        aborted.__cause__ = error
        return None, aborted


def _run_in_steps(session: Session, run: Run) -> Arrays:
    call = session.call(run.inputs)
    call.bind()
    if run.asked:  # perhaps before the bind, and a call has forgotten then what it was asked
        run.interrupt_bound()
    call.invoke()
    return call.fetch()


def _clear_locals(error: BaseException) -> None:
    # An error lives as long as its future and is logged with what it holds; its frames hold the session and the inputs.
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__
