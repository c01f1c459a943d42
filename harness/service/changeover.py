"""One switch of the model under way: what each slot does next for it, and which tasks it may start meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, StrEnum

from harness.service.future import Ended, end_all
from harness.service.slot import Chore, Model, Slot, SlotState
from harness.service.waiting_line import FOREVER, WaitingLine

__all__ = ["Changeover", "Phase", "SwitchOrder", "SwitchPolicy"]

_AWAY = (SlotState.COLD, SlotState.LOST, SlotState.CLOSED)
_REOPENING = (SlotState.QUARANTINED, SlotState.REBUILDING)


class SwitchPolicy(StrEnum):
    """What a switch does with tasks that were accepted before it and wait: run them on the old version, or cancel."""

    FINISH = "finish"
    CANCEL = "cancel"


class SwitchOrder(StrEnum):
    """Whether a slot opens the new session first, which takes memory for both, or closes the old one first."""

    OPEN_FIRST = "open-first"
    CLOSE_FIRST = "close-first"


class Phase(Enum):
    """The new sessions are being opened; new tasks get the new model; it did not open, and the old one stays."""

    OPENING = "opening"
    COMMITTED = "committed"
    FAILED = "failed"


class Changeover:
    """What is used of it is used under the service's lock, but for `prepare`.

    The one rule is that a slot whose session is not of the `current` model changes over between two runs, when no task
    is left that waits for its own model. Tasks up to number `old_up_to` wait for the old one.

    `drops`: tasks that wait for the old model are cancelled once the new one has opened. `busy`: a slot is opening the
    new model; they do it one after the other. `error` is why one could not.
    """

    def __init__(
        self, slots: Sequence[Slot], line: WaitingLine, old: Model, new: Model, order: SwitchOrder, *, drops: bool
    ) -> None:
        self.new, self.order, self.drops = new, order, drops
        self.phase = Phase.OPENING
        self.old_up_to = 0
        self.busy = False
        self.error: BaseException | None = None
        self._old, self._slots, self._line = old, slots, line

    @property
    def current(self) -> Model:
        """The model that new tasks get."""
        return self.new if self.phase is Phase.COMMITTED else self._old

    @property
    def opened(self) -> bool:
        """Whether every slot that is in use has a session of the new model, and one at least."""
        prepared = [slot for slot in self._slots if self._is_prepared(slot)]
        return bool(prepared) and all(slot in prepared for slot in self._slots if slot.state not in _AWAY)

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do: no task waits for the old model, and no slot has a session to be rid of."""
        if self.busy or self.phase is Phase.OPENING or self._old_waits():
            return False
        if self.phase is Phase.FAILED and any(slot.state in _REOPENING for slot in self._slots):
            return False
        return not any(slot.spare or self._is_elsewhere(slot) for slot in self._slots)

    def begin_old(self, accepted: int) -> None:
        """From here on tasks are new ones: they share no run with one that was accepted before."""
        self.old_up_to = accepted
        self._line.forget_keys()

    def drop_old(self) -> Ended:
        """Cancel the tasks that wait for the old model."""
        return [each for run in self._line.runs() if run.number <= self.old_up_to for each in end_all(run)]

    def chore(self, slot: Slot) -> Chore | None:
        """What the slot does next for the switch, None for its ordinary work; `PREPARE` makes this `busy`."""
        if self.phase is Phase.OPENING:
            if self.busy or self.error is not None or not self._may_prepare(slot):
                return None
            self.busy = True
            return Chore.PREPARE
        if slot.spare is not None and slot.spare.model is not self.current:
            return Chore.DISCARD
        has_to = slot.spare is not None or (slot.state is SlotState.READY and slot.model is not self.current)
        return Chore.CHANGE_OVER if has_to and not self.serves_old(slot) else None

    def prepare(self, slot: Slot) -> BaseException | None:
        """Have the slot open the new model; an error is returned. On its worker, with no lock held."""
        return slot.prepare(self.new, beside=self.order is SwitchOrder.OPEN_FIRST or slot.session is None)

    def prepared(self, error: BaseException | None) -> None:
        """The slot has done so, or could not."""
        self.busy = False
        self.error = self.error or error

    def limit(self, slot: Slot) -> int:
        """The number of the last task that the slot may start now."""
        if self.serves_old(slot):
            return self.old_up_to
        if slot.model is not self.current:
            return 0
        if self.phase is Phase.OPENING:
            return self._limit_meanwhile()
        return 0 if self.phase is Phase.COMMITTED and self._old_waits() else FOREVER

    def serves_old(self, slot: Slot) -> bool:
        """Whether the slot is needed for tasks that wait for the old model, although it is not current any more."""
        return self.phase is Phase.COMMITTED and self._keeps_old(slot) and self._old_waits()

    def _limit_meanwhile(self) -> int:
        if self.order is SwitchOrder.CLOSE_FIRST:
            return 0 if self.drops else self.old_up_to
        return 0 if self.drops and self.opened else FOREVER  # about to be cancelled: start none of them

    def _may_prepare(self, slot: Slot) -> bool:
        if self._is_prepared(slot):
            return False
        if slot.state is SlotState.READY:
            drained = self.drops or self._line.oldest() > self.old_up_to
            return self.order is SwitchOrder.OPEN_FIRST or drained
        nobody_else = all(other.state in _AWAY and not self._is_prepared(other) for other in self._slots)
        return slot.state in _AWAY and nobody_else and not self._line.size

    def _is_prepared(self, slot: Slot) -> bool:
        return slot.model is self.new or (slot.spare is not None and slot.spare.model is self.new)

    def _is_elsewhere(self, slot: Slot) -> bool:
        return slot.state not in _AWAY and slot.model is not self.current

    def _keeps_old(self, slot: Slot) -> bool:
        return slot.state not in _AWAY and slot.model is self._old

    def _old_waits(self) -> bool:
        # Where the last session of the old model was lost, what waits for it runs on the new one: nothing is lost.
        return self._line.oldest() <= self.old_up_to and any(self._keeps_old(slot) for slot in self._slots)
