"""`--resume`: finds what an interrupted run left in an output folder, and goes on with it if it is the same run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import UsageError, complain
from harness.cli.plan_facts import plan_facts
from harness.cli.unfinished import Unfinished, begin_run, listed, unfinished_runs
from reports.keys import key_id

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from harness.cli.planning import Prepared

__all__ = ["counted", "earlier_run", "remember", "tell_of_unfinished"]


def earlier_run(out: Path, seed: int | None) -> Unfinished | None:
    """The newest run in `out` that was interrupted, with this seed if one is asked for. The caller closes it.

    None, and a line that says so, where there is none: then all of it is missing.
    """
    found = unfinished_runs(out)
    chosen = next((run for run in found if seed in {None, run.seed}), found[0] if found else None)
    for run in found:
        if run is not chosen:
            run.close(over=False)
    if chosen is None:
        complain(f"note: no interrupted run is in {out.name!r}: everything is run")
    return chosen


def tell_of_unfinished(out: Path) -> None:
    """Say which interrupted runs are here, for somebody who starts another."""
    for run in unfinished_runs(out):
        run.close(over=False)
        if cells := run.cells:
            where = f"{out.name}/{run.name}"
            complain(f"note: an interrupted run with {counted(cells)} done is in {where}: --resume runs the rest")


def counted(cells: int) -> str:
    """So many cells, for a person."""
    return f"{cells} cell{'' if cells == 1 else 's'}"


def remember(earlier: Unfinished | None, prepared: Prepared, out: Path, key: Ed25519PrivateKey | None) -> Unfinished:
    """The folder of this run: the earlier one's where it is the same run, else a new one.

    Raises UsageError, which says what differs, where it is not the same, and OSError where nothing can be written.
    """
    facts = plan_facts(prepared, "" if key is None else key_id(key.public_key()))
    if earlier is None:
        return begin_run(out, prepared.plan.seed, facts)
    if changed := earlier.changed(facts):
        verb = "differs from what it was" if len(changed) == 1 else "differ from what they were"
        message = f"--resume: {listed(changed)} {verb} in the interrupted run; run the same, or anew without --resume"
        raise UsageError(message)
    return earlier
