"""Close while a task runs."""

from harness.scenario import Script, scenario

__all__ = ["close_during_run", "close_during_run_aborted", "close_during_run_drained"]


@scenario(exercises=("close-once", "release-after-drain", "terminal-once", "no-deadlock", "owner-thread"), tasks=4)
def close_during_run(script: Script) -> None:
    """Close waits for the call in flight, and every accepted task ends.

    Claim: nothing is released under a call in flight, and close returns only when closing is done.
    Interleaving: one task is held inside `invoke`, another waits, an actor closes; then the gate opens.
    Expected: both tasks end; each session is closed once, by its owner, after its last call.
    """
    _close_under_way(script, drain=None)


@scenario(exercises=("close-once", "release-after-drain", "terminal-once", "own-output"), requires=("drain",), tasks=4)
def close_during_run_drained(script: Script) -> None:
    """A draining close runs what was accepted.

    Claim: with `drain=True` every accepted task delivers its own output before close returns.
    Interleaving: as in `close-during-run`.
    Expected: SUCCEEDED for both tasks.
    """
    for outcome in _close_under_way(script, drain=True):
        script.expect(outcome == "SUCCEEDED", "terminal-once", "a draining close runs what was accepted")


@scenario(exercises=("close-once", "release-after-drain", "terminal-once"), requires=("drain",), tasks=4)
def close_during_run_aborted(script: Script) -> None:
    """An aborting close ends what waits and lets the running call return.

    Claim: with `drain=False` no waiting task starts any more, and none stays pending.
    Interleaving: as in `close-during-run`.
    Expected: every task has an outcome; the session is closed after its call has returned.
    """
    _close_under_way(script, drain=False)


def _close_under_way(script: Script, *, drain: bool | None) -> list[str]:
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    gate.wait()
    waiting = service.submit(script.task())
    script.actor("closer", lambda: service.close(drain=drain))
    gate.open()
    outcomes = [running.result().kind, waiting.result().kind]
    script.join()
    return outcomes
