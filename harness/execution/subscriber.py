"""Who applies results, in a controlled execution: what it is told and what it applies, recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.execution.run_state import RunState
from harness.history import Attr

__all__ = ["ControlledSubscriber"]


class ControlledSubscriber:
    """See `harness.scenario.Subscriber`. `make(apply)` makes the subscriber that is judged."""

    def __init__(self, state: RunState, make: Callable[[Callable[[Any], None]], Any], number: int) -> None:
        self._state = state
        self._number = number
        self._inner = make(self._apply)
        self._tasks: dict[int, str] = {}

    def follow(self, task: Any, context: int) -> None:
        """Have the result applied when it is there, if it is fresh then."""
        if self._state.leaves_out("follow", idle=task.future is None):
            return
        self._tasks[context] = task.task
        self._inner.follow(task.future, context)

    def expect(self, context: int) -> None:
        """From now on nothing older is of interest."""
        attrs = self._attrs(context=context)
        if attrs is not None:
            self._state.recorder.record("expect-context-begin", attrs=attrs)
            self._inner.expect(context)
            self._state.recorder.record("expect-context-end", attrs=attrs)

    def switched_to(self, version: str) -> None:
        """From now on this model is current."""
        attrs = self._attrs(version=version)
        if attrs is not None:
            self._state.recorder.record("current-model-begin", attrs=attrs)
            self._inner.switched_to(version)
            self._state.recorder.record("current-model-end", attrs=attrs)

    def _attrs(self, **said: Attr) -> dict[str, Attr] | None:
        """What the begin and the end of one call say; None for a step that is left out."""
        if self._state.leaves_out("subscriber"):
            return None
        return {"call": self._state.recorder.next_call(), "subscriber": self._number, **said}

    def _apply(self, result: Any) -> None:
        """On whatever thread the subscriber calls it."""
        context = int(result.context_version)
        version = result.model_version
        attrs: dict[str, Attr] = {"subscriber": self._number, "context": context, "version": version and str(version)}
        self._state.seam.world.pause()
        self._state.recorder.record("applied", self._tasks.get(context), attrs=attrs)
