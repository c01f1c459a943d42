"""One slot: its session, and what is done about a session in doubt. All of it on the slot's own worker."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

from adapters.base import (
    ContractError,
    DelegateInitError,
    Opener,
    OutputContractError,
    RunError,
    RunInterruptedError,
    Session,
)
from harness.service.attempt import Attempt
from harness.service.config import DelegatePolicy
from harness.service.run import Run

__all__ = ["Chore", "Doubt", "Model", "Slot", "SlotSource", "SlotState", "doubt_after", "open_by_policy"]

_LOGGER = logging.getLogger(__name__)


class SlotState(StrEnum):
    """Where a slot is. `cold` is not told: it is what a slot is before it opens for the first time."""

    COLD = "cold"
    OPENING = "opening"
    READY = "ready"
    QUARANTINED = "quarantined"
    REBUILDING = "rebuilding"
    LOST = "lost"
    CLOSED = "closed"


class Chore(IntEnum):
    """What a worker does between two runs."""

    OPEN = 0  # a slot that never had a session, or that was lost
    REBUILD = 1  # a slot in quarantine
    RESTORE = 2  # a slot on its fallback: try the delegate again
    PREPARE = 3  # open another model, for a switch
    CHANGE_OVER = 4  # go over to the model that is current now
    DISCARD = 5  # a switch failed: close what was opened for it


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What sessions are opened from, and the version that results of it name."""

    open_session: Opener
    version: str | None


class Spare(NamedTuple):
    """A session of another model, for which its slot has no use yet."""

    session: Session
    fallback: bool
    model: Model


class Doubt(IntEnum):
    """How much is known of a session after a run: it is sound; ask the health check; nothing, so rebuild it."""

    NONE = 0
    CHECK = 1
    UNKNOWN = 2


_SOUND = (ContractError, RunInterruptedError)  # refused before the runtime was called; ended as it was asked to
_ASK = (RunError, OutputContractError)


def doubt_after(error: BaseException | None) -> Doubt:
    """What a run that ended with this error leaves behind."""
    if error is None or isinstance(error, _SOUND):
        return Doubt.NONE
    return Doubt.CHECK if isinstance(error, _ASK) else Doubt.UNKNOWN


def open_by_policy(opener: Opener, policy: DelegatePolicy) -> tuple[Session, bool]:
    """Open a session on the path that the policy allows; True beside it where that is the fallback for a delegate."""
    if policy is DelegatePolicy.CPU_ONLY:
        return opener(fallback=True), False
    try:
        return opener(), False
    except DelegateInitError:
        if policy is DelegatePolicy.REQUIRE:
            raise
    return opener(fallback=True), True


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotSource:
    """Where slots get their sessions, how they give them back, and who hears of it.

    `opens` returns whether the session is a fallback, too. `check` says whether a session is sound, None asks nothing.
    """

    opens: Callable[[Opener, DelegatePolicy], tuple[Session, bool]]
    releases: Callable[[Session], None]
    interruptible: Callable[[Session], Session | None]
    check: Callable[[Session], bool] | None
    tell: Callable[[int, str], None]
    policy: DelegatePolicy


class Slot:
    """A place with a session of its own. It has one exactly while it is ready, and it is of `model`.

    During a switch it may have a `spare` beside it.

    `error` is why it was lost. The rest belongs to the crew: the run on the slot and how it went; whether a run that
    nobody waits for is still to be accounted for; how many calls of `recover` the slot has answered.
    """

    def __init__(self, number: int, source: SlotSource, model: Model) -> None:
        self.number = number
        self.model = model
        self.spare: Spare | None = None
        self.state = SlotState.COLD
        self.session: Session | None = None
        self.interruptible: Session | None = None
        self.on_fallback = False
        self.fallbacks = 0
        self.error: BaseException | None = None
        self.run: Run | None = None
        self.outcome: Attempt | None = None
        self.tainted = False
        self.asked = 0
        self.runs = 0
        self._source = source

    def open(self, state: SlotState = SlotState.OPENING) -> None:
        """Get a session. Raises what the opener raised; the slot is lost then."""
        self._change(state)
        try:
            session, fallback = self._source.opens(self.model.open_session, self._source.policy)
        except BaseException as error:
            self._lose(error)
            raise
        self._use(session, fallback=fallback)

    def prepare(self, model: Model, *, beside: bool) -> BaseException | None:
        """Open a session of another model and return why that failed: beside the slot's own, or instead of it.

        Instead of it, the slot is in quarantine if the new session fails to open, and lost if its own fails to close.
        """
        if not beside:
            self._change(SlotState.REBUILDING)
            error = self.release()
            if error is not None:
                self._lose(error)
                return error
        try:
            session, fallback = self._source.opens(model.open_session, self._source.policy)
        except BaseException as error:  # noqa: BLE001 - the switch raises it
            return self._not_prepared(error, beside=beside)
        if not self._passes(session):
            self._give_back(session)
            return self._not_prepared(RunError("the health check does not find the session sound"), beside=beside)
        if beside:
            self.spare = Spare(session, fallback, model)
        else:
            self.model = model
            self._use(session, fallback=fallback)
        return None

    def change_over(self, model: Model) -> BaseException | None:
        """Close the session and go on with the spare, or else with a new one. Returns what a release raised.

        Raises what the opener raised; the slot is lost then.
        """
        self._change(SlotState.REBUILDING)
        error = self.release()
        spare, self.spare, self.model = self.spare, None, model
        if spare is None:
            self.open(SlotState.REBUILDING)
        else:
            self._use(spare.session, fallback=spare.fallback)
        return error

    def discard(self) -> BaseException | None:
        """Close the spare, if there is one; what that raised is returned."""
        spare, self.spare = self.spare, None
        return None if spare is None else self._give_back(spare.session)

    def _not_prepared(self, error: BaseException, *, beside: bool) -> BaseException:
        if not beside:
            self._change(SlotState.QUARANTINED)
        return error

    def release(self) -> BaseException | None:
        """Give the session back, if there is one; what that raised is returned."""
        session, self.session, self.interruptible = self.session, None, None
        return None if session is None else self._give_back(session)

    def close(self) -> BaseException | None:
        """Release the session for good."""
        errors = self.discard(), self.release()
        self._change(SlotState.CLOSED)
        return errors[0] or errors[1]

    def sound(self) -> bool:
        """Ask the health check. Without one, that the call returned counts as sound."""
        assert self.session is not None, "only a slot with a session runs"
        return self._passes(self.session)

    def quarantine(self) -> BaseException | None:
        """Take the slot out of use and release its session; if that fails the slot is lost: two might not fit."""
        self._change(SlotState.QUARANTINED)
        error = self.release()
        if error is not None:
            self._lose(error)
        return error

    def restore(self) -> BaseException | None:
        """Leave the fallback if the delegate starts again and proves sound. Returns what a release raised."""
        fallback = self.session
        assert fallback is not None, "a slot on its fallback has a session"
        try:
            session, _ = self._source.opens(self.model.open_session, DelegatePolicy.REQUIRE)
        except Exception as error:  # noqa: BLE001 - the fallback goes on
            _LOGGER.warning("the delegate still does not start: %s", type(error).__name__)
            return None
        if not self._passes(session):
            return self._give_back(session)
        self._change(SlotState.REBUILDING)
        error = self._give_back(fallback)
        self._use(session, fallback=False)
        return error

    def _use(self, session: Session, *, fallback: bool) -> None:
        self.session, self.interruptible = session, self._source.interruptible(session)
        self.on_fallback, self.error = fallback, None
        self.fallbacks += fallback
        self._change(SlotState.READY)

    def _lose(self, error: BaseException) -> None:
        self.error = error
        self._change(SlotState.LOST)

    def _give_back(self, session: Session) -> BaseException | None:
        try:
            self._source.releases(session)
        except BaseException as error:  # noqa: BLE001 - close() raises it, when the other slots have been released too
            _LOGGER.warning("a session did not close cleanly: %s", type(error).__name__)
            return error
        return None

    def _passes(self, session: Session) -> bool:
        if self._source.check is None:
            return True
        try:
            return bool(self._source.check(session))
        except Exception as error:  # noqa: BLE001 - a check that fails is an answer
            _LOGGER.warning("a health check failed with %s", type(error).__name__)
            return False

    def _change(self, state: SlotState) -> None:
        self.state = state
        self._source.tell(self.number, state.value)
