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
    ModelLoadError,
    Opener,
    OutputContractError,
    RunError,
    RunInterruptedError,
    Scope,
    Session,
    scope_of,
)
from harness.service.attempt import Attempt
from harness.service.config import DelegatePolicy
from harness.service.recovery import Recovery
from harness.service.run import Run

__all__ = ["UNSOUND", "Chore", "Doubt", "Model", "Slot", "SlotSource", "SlotState", "doubt_after", "open_by_policy"]

_LOGGER = logging.getLogger(__name__)
UNSOUND = "the health check does not find the session sound"


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
    CHECK = 6  # another slot's device failed: is this session sound?


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What sessions are opened from, and the version that results of it name."""

    open_session: Opener
    version: str | None


class Opened(NamedTuple):
    """A session, whether it is a fallback, and how many alarms there had been when its opening began."""

    session: Session
    fallback: bool
    alarms: int


class Spare(NamedTuple):
    """A session of another model, for which its slot has no use yet."""

    opened: Opened
    model: Model


class Doubt(IntEnum):
    """How much is known of a session: it is sound; a health check may say no; it must say yes; nothing, so rebuild."""

    NONE = 0
    CHECK = 1
    PROOF = 2
    UNKNOWN = 3


_SOUND = (ContractError, RunInterruptedError)  # refused before the runtime was called; ended as it was asked to
_ASK = (RunError, OutputContractError)


def doubt_after(error: BaseException | None) -> Doubt:
    """What a run that ended with this error leaves behind."""
    if error is None or isinstance(error, _SOUND):
        return Doubt.NONE
    # One that reaches further than its request says itself that the session is gone, whatever its class.
    return Doubt.CHECK if isinstance(error, _ASK) and scope_of(error) is Scope.REQUEST else Doubt.UNKNOWN


def open_by_policy(opener: Opener, policy: DelegatePolicy) -> tuple[Session, bool]:
    """Open a session on the path that the policy allows; True beside it where that is the fallback for a delegate.

    A prepared asset of another version fails as a model that does not load, and the plain CPU path does not need it.
    """
    if policy is DelegatePolicy.CPU_ONLY:
        return opener(fallback=True), False
    try:
        return opener(), False
    except (DelegateInitError, ModelLoadError):
        if policy is DelegatePolicy.REQUIRE:
            raise
    return opener(fallback=True), True


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotSource:
    """Where slots get their sessions, how they give them back, and who hears of it.

    `opens` returns whether the session is a fallback, too. `check` says whether a session is sound, None asks nothing.
    `alarms` says how many times a failure put the sessions of other slots in doubt.
    """

    opens: Callable[[Opener, DelegatePolicy], tuple[Session, bool]]
    releases: Callable[[Session], None]
    interruptible: Callable[[Session], Session | None]
    check: Callable[[Session], bool] | None
    tell: Callable[[int, str], None]
    policy: DelegatePolicy
    alarms: Callable[[], int]


class Slot:
    """A place with a session of its own. It has one exactly while it is ready, and it is of `model`.

    During a switch it may have a `spare` beside it.

    `error` is why it was lost. The rest belongs to the crew: the run on the slot and how it went; whether a run that
    nobody waits for is still to be accounted for; how many calls of `recover` and how many alarms the slot has
    answered; and, while its session is in doubt, how far its recovery is.
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
        self.alarms = 0
        self.recovery: Recovery | None = None
        self.runs = 0
        self._source = source

    def open(self, state: SlotState = SlotState.OPENING) -> None:
        """Get a session. Raises what the opener raised; the slot is lost then."""
        self._change(state)
        try:
            opened = self._opened(self.model, self._source.policy)
        except BaseException as error:
            self._lose(error)
            raise
        self._use(opened)

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
            opened = self._opened(model, self._source.policy)
        except BaseException as error:  # noqa: BLE001 - the switch raises it
            return self._not_prepared(error, beside=beside)
        if not self._passes(opened.session):
            self._give_back(opened.session)
            return self._not_prepared(RunError(UNSOUND), beside=beside)
        if beside:
            self.spare = Spare(opened, model)
        else:
            self.model = model
            self._use(opened)
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
            self._use(spare.opened)
        return error

    def discard(self) -> BaseException | None:
        """Close the spare, if there is one; what that raised is returned."""
        spare, self.spare = self.spare, None
        return None if spare is None else self._give_back(spare.opened.session)

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

    def vouched_for(self) -> bool:
        """Ask the health check. Without one, nobody vouches for the session."""
        return self._source.check is not None and self.sound()

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
            opened = self._opened(self.model, DelegatePolicy.REQUIRE)
        except Exception as error:  # noqa: BLE001 - the fallback goes on
            _LOGGER.warning("the delegate still does not start: %s", type(error).__name__)
            return None
        if not self._passes(opened.session):
            return self._give_back(opened.session)
        self._change(SlotState.REBUILDING)
        error = self._give_back(fallback)
        self._use(opened)
        return error

    def _opened(self, model: Model, policy: DelegatePolicy) -> Opened:
        alarms = self._source.alarms()
        session, fallback = self._source.opens(model.open_session, policy)
        return Opened(session, fallback, alarms)

    def _use(self, opened: Opened) -> None:
        self.session, self.interruptible = opened.session, self._source.interruptible(opened.session)
        self.on_fallback, self.error, self.alarms = opened.fallback, None, opened.alarms
        self.fallbacks += opened.fallback
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
