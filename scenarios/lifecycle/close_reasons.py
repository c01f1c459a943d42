"""Why a service is closed."""

from harness.scenario import Script, scenario

__all__ = ["close_because_the_model_changes", "close_because_the_page_is_closed"]


@scenario(exercises=("close-once", "terminal-once", "release-after-drain"), requires=("close-reason",), tasks=3)
def close_because_the_page_is_closed(script: Script) -> None:
    """Nobody looks at the results of a page that was closed: closing for that reason ends every task soon.

    Claim: the reason is kept, and whatever the policy makes of it, each accepted task has one outcome.
    Interleaving: one task is held inside `invoke`, another waits; an actor closes, and a second close gives another
        reason.
    Expected: every task ends; the first reason is the one that the service names.
    """
    _close_for(script, "page-closed")


@scenario(exercises=("close-once", "terminal-once", "release-after-drain"), requires=("close-reason",), tasks=3)
def close_because_the_model_changes(script: Script) -> None:
    """A model that is replaced still answers what it has accepted.

    Claim: the reason is kept, and whatever the policy makes of it, each accepted task has one outcome.
    Interleaving: as in `close-because-the-page-is-closed`.
    Expected: every task ends; the first reason is the one that the service names.
    """
    _close_for(script, "model-switch")


def _close_for(script: Script, reason: str) -> None:
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    gate.wait()
    waiting = service.submit(script.task())
    script.actor("closer", lambda: service.close(reason=reason))
    script.rest(0.1)
    script.actor("second-closer", lambda: service.close(reason="shutdown"))
    gate.open()
    running.result()
    waiting.result()
    script.join()
