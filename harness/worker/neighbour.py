"""The neighbour's session: a client of the same target in a process of its own, with a request always in flight."""

from __future__ import annotations

from collections.abc import Callable

from adapters.base import Array, Call, ModelFile, Session
from harness.models.registry import load_adapter
from harness.observe.neighbour import Look
from harness.oracle.inputs import make_input
from harness.oracle.reference import answer_of
from harness.worker.protocol import NeighbourParams

__all__ = ["NeighbourSession"]

_FRESH, _IN_FLIGHT = 0, 1
"""The two requests. They differ, so that outputs left from one are no answer to the other."""


class NeighbourSession:
    """One session, opened when it is made and again after an error. Used from one thread.

    Raises the adapter's errors. Between two looks one request has run and is not fetched yet: what a device does to
    those who use it meanwhile shows in it.
    """

    def __init__(self, params: NeighbourParams, model: ModelFile) -> None:
        self._params = params
        self._model = model
        self._call: Call | None = None
        self._begun = ""
        self._session: Session | None = self._opened()

    def look(self) -> Look:
        """Finish what is in flight, run a request, and begin the next."""
        in_flight = self._begun or self._judged(_IN_FLIGHT, self._fetched)
        fresh = self._judged(_FRESH, lambda: self._open().run(self._inputs(_FRESH)))
        self._begun = self._attempt(self._begin)
        return Look(fresh, in_flight)

    def close(self) -> None:
        """Release the session; what it says to that is nobody's business."""
        session, self._session, self._call = self._session, None, None
        if session is not None:
            self._attempt(session.close)

    def _opened(self) -> Session:
        target = self._params.target
        adapter = load_adapter(target.adapter)
        return adapter.open(self._model, target.delegate or adapter.default_delegate, target.options)

    def _open(self) -> Session:
        if self._session is None:
            self._session = self._opened()
        return self._session

    def _inputs(self, number: int) -> dict[str, Array]:
        return make_input(self._open().contract, self._params.recipes[number])

    def _begin(self) -> None:
        call = self._open().call(self._inputs(_IN_FLIGHT))
        call.bind()
        call.invoke()
        self._call = call

    def _fetched(self) -> dict[str, Array] | None:
        call, self._call = self._call, None
        return None if call is None else call.fetch()

    def _judged(self, number: int, run: Callable[[], dict[str, Array] | None]) -> str:
        """Make a run and compare what it gives with the oracle's answers, bit by bit, as a cell does."""
        found: list[dict[str, Array] | None] = []
        failed = self._attempt(lambda: found.append(run()))
        if failed or found[0] is None:
            return failed
        params = self._params
        if not params.answers:
            return "unjudged"
        given = answer_of(found[0])
        on_fallback = self._open().delegate.fallback and bool(params.fallback_answers)
        known = params.fallback_answers if on_fallback else params.answers
        if given.whole == known[number].whole:
            return "match"
        if dict(given.shapes) != dict(known[number].shapes):
            return "wrong-shape"
        return "other" if any(given.whole == each.whole for each in known) else "garbage"

    def _attempt(self, what: Callable[[], object]) -> str:
        """Do it. The class of what it raised; the session is given up then, as a client would that was refused."""
        try:
            what()
        except Exception as error:  # noqa: BLE001 - whatever a session raises is an answer
            self.close()
            return f"error:{type(error).__name__}"
        return ""
