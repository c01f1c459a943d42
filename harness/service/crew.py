"""The workers: one thread for each slot, which takes runs from the line and does the slot's chores between them."""

from __future__ import annotations

import logging
import threading  # noqa: TID251 - the service owns its threads and locks
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from harness.service.changeover import Changeover, Phase
from harness.service.clock import monotonic
from harness.service.deadlines import Deadlines
from harness.service.errors import SlotLostError
from harness.service.future import Ended, end_all, follow_up
from harness.service.health import Health
from harness.service.observer import NullObserver, Observer
from harness.service.recoveries import Recoveries
from harness.service.run import Run
from harness.service.running import Runner, deliver, guarded
from harness.service.slot import Chore, Doubt, Model, Slot, SlotSource, SlotState
from harness.service.waiting_line import WaitingLine
from harness.service.workers import start_worker

__all__ = ["Crew"]

_LOGGER = logging.getLogger(__name__)
_READY, _SOUND = SlotState.READY, Doubt.NONE  # looked at for every task: an enumeration's attributes are slow
_GONE = (SlotState.LOST, SlotState.CLOSED)


class Crew:
    """One worker for each slot. Public methods are called under the service's lock, but for `open` and `join`.

    What it calls under the lock: `freed` when a place in the line was freed, `health_changed`, and `last_left`, by the
    last worker of a crew that was dismissed. `broke` is called without it, by a worker that a defect ended.
    """

    def __init__(
        self,
        lock: threading.RLock,
        line: WaitingLine,
        deadlines: Deadlines,
        health: Health,
        runner: Runner,
        recoveries: Recoveries,
        source: SlotSource,
        model: Model,
        *,
        stamps: bool,
        slots: int,
        observer: Observer,
        freed: Callable[[], None],
        health_changed: Callable[[], None],
        broke: Callable[[], None],
        last_left: Callable[[], None],
    ) -> None:
        self._lock = lock
        self._line, self._deadlines, self._health, self._observer = line, deadlines, health, observer
        self._told = type(observer) is not NullObserver  # what nobody hears is not said, for every task
        self._runner, self._recoveries, self._stamps = runner, recoveries, stamps
        self._freed, self._health_changed, self._broke, self._last_left = freed, health_changed, broke, last_left
        self._work = threading.Condition(lock)  # ready slots wait here, for a run
        self._chores = threading.Condition(lock)  # slots without a session wait here
        self.news = threading.Condition(lock)  # who switches the model waits here
        self.model = model  # what sessions are opened from, where a switch under way says nothing else
        self.change: Changeover | None = None
        self.slots = [Slot(number, source, model) for number in range(slots)]
        self.threads: list[threading.Thread] = []
        self.release_errors: list[BaseException] = []
        self._present = self._cold = slots
        self._idle = self._opening = self._asked = self._alarmed = 0
        self._dismissed = False

    def open(self, name: str, *, lazily: bool) -> None:
        """Start the workers, one after the other: whether a runtime can load twice at once is not assumed.

        Unless `lazily`, each opens its slot first, and the first failure is raised.
        """
        for slot in self.slots:
            start_worker(self.threads, f"{name}-{slot.number}", partial(self._serve, slot), lazily=lazily)

    def join(self) -> None:
        """Wait until every worker has ended."""
        for thread in self.threads:
            thread.join()

    def wake(self) -> None:
        """A run was added to the line."""
        self._work.notify()
        if self._cold and self._short_of_slots():
            self._chores.notify_all()

    def dismiss(self) -> None:
        """Let workers leave when the line is empty."""
        self._dismissed = True
        self.wake_all()

    def recover(self) -> None:
        """Have slots that were lost open again, and slots on their fallback try the delegate."""
        self._asked += 1
        self.wake_all()

    def run_removed(self) -> None:
        """A run was taken out of the line."""
        self._freed()
        if self.change is not None:
            self.wake_all()

    def wake_all(self) -> None:
        """Have every worker, and who switches the model, look again."""
        self._work.notify_all()
        self._chores.notify_all()
        self.news.notify_all()

    def _short_of_slots(self) -> bool:
        return self._line.size > self._idle + self._opening

    def _serve(self, slot: Slot, opened: Future[None] | None) -> None:
        if opened is not None:
            self._cold -= 1  # the constructor waits: nobody else counts
            try:
                slot.open()
            except BaseException as error:  # noqa: BLE001 - the constructor raises it
                opened.set_exception(error)
                return
            opened.set_result(None)
        try:
            while self._serve_once(slot):
                pass
        except BaseException:
            # A defect here or in the observer, not a task's failure: no task may wait for a worker that is gone.
            deliver(slot)
            self._broke()
            raise
        finally:
            self._leave(slot)

    def _serve_once(self, slot: Slot) -> bool:
        # One call for each run, so that an idle worker holds no reference to the last one's arrays.
        what = self._next(slot)
        if what is None:
            return False
        if isinstance(what, Run):
            if (doubt := self._runner.run(slot, what)) is not _SOUND:
                self._mend(slot, doubt)
        else:
            self._do(slot, what)
        if slot.tainted and slot.state in {SlotState.READY, SlotState.LOST}:
            slot.tainted = False
            with self._lock:
                self._update_health(abandoned=-1)
        return True

    def _next(self, slot: Slot) -> Run | Chore | None:
        with self._lock:
            while True:
                ready = slot.state is _READY
                change = self.change
                chore = None if change is None else self._chore_of_change(slot, change)
                sound = ready and slot.asked == self._asked and slot.alarms == self._recoveries.alarms
                if chore is None and not sound:
                    chore = self._chore(slot)
                if chore is not None:
                    return chore
                if ready and self._line.size and (change is None or self._line.oldest() <= change.limit(slot)):
                    run = self._start_next(slot)
                    if run is not None:
                        return run
                elif self._dismissed and not (ready and self._line.size):
                    return None
                else:
                    self._idle += ready
                    try:
                        (self._work if ready else self._chores).wait()
                    finally:
                        self._idle -= ready

    def _chore_of_change(self, slot: Slot, change: Changeover) -> Chore | None:
        chore = None if self._dismissed and change.phase is Phase.OPENING else change.chore(slot)
        self._cold -= chore is Chore.CHANGE_OVER and slot.state is SlotState.COLD
        return chore

    def _chore(self, slot: Slot) -> Chore | None:
        needed = bool(self._line.size) or not self._dismissed
        if slot.state is SlotState.READY and slot.alarms != self._recoveries.alarms and needed:
            return Chore.CHECK
        again, slot.asked = slot.asked != self._asked, self._asked
        chore = None
        if slot.state is SlotState.COLD and self._short_of_slots():
            self._cold -= 1
            chore = Chore.OPEN
        elif slot.state is SlotState.LOST and again and not self._dismissed:
            chore = Chore.OPEN
        elif slot.state is SlotState.QUARANTINED and needed:
            chore = Chore.REBUILD
        elif slot.state is SlotState.READY and again and slot.on_fallback and not self._dismissed:
            return Chore.RESTORE
        if chore is not None:
            self._opening += 1
            if self.change is None or not self.change.serves_old(slot):
                slot.model = self.model
        return chore

    def _do(self, slot: Slot, chore: Chore) -> None:
        if chore is Chore.CHECK:
            self._mend(slot, self._recoveries.answer(slot))
            return
        refused: BaseException | None = None
        if chore is Chore.RESTORE:
            self._note(slot.restore())
        elif chore is Chore.DISCARD:
            self._note(slot.discard())
        elif chore is Chore.PREPARE:
            assert self.change is not None, "no switch ends while a slot is busy with it"
            refused = self.change.prepare(slot)
        else:
            self._open(slot, chore)
        self._slots_changed(slot, partial(self._done, slot, chore, refused))

    def _done(self, slot: Slot, chore: Chore, refused: BaseException | None) -> None:
        if chore is Chore.PREPARE and self.change is not None:
            self.change.prepared(refused)
        self._opening -= chore in {Chore.OPEN, Chore.REBUILD}
        self._recoveries.rebuilt(slot)

    def _open(self, slot: Slot, chore: Chore) -> None:
        try:
            if chore is Chore.CHANGE_OVER:
                self._note(slot.change_over(self.model))
            else:
                slot.open(SlotState.REBUILDING if chore is Chore.REBUILD else SlotState.OPENING)
        except BaseException as error:  # noqa: BLE001 - the slot is lost; the others go on
            _LOGGER.warning("slot %d was lost: %s", slot.number, type(error).__name__)

    def _slots_changed(self, slot: Slot, note: Callable[[], None]) -> None:
        """Note what became of a slot, and in the same moment have whoever waits for that look again."""
        with self._lock:
            note()
            self._update_health()
            ended: Ended = []
            if self._health.usable == 0:
                lost = partial(SlotLostError.because, slot.error)
                ended = [each for run in self._line.runs() for each in end_all(run, lost)]
            elif self._cold and self._short_of_slots():
                self._chores.notify_all()
            alarmed, self._alarmed = self._alarmed != self._recoveries.alarms, self._recoveries.alarms
            if self.change is not None or alarmed:
                self.wake_all()
        guarded(partial(follow_up, ended))

    def _update_health(self, abandoned: int = 0) -> None:
        if self._health.update(abandoned=abandoned, usable=sum(each.state not in _GONE for each in self.slots)):
            self._health_changed()

    def _start_next(self, slot: Slot) -> Run | None:
        # Taken and running in one step: a cancel finds the task waiting, and it never starts, or running.
        run = self._line.take() if self.change is None else self._line.take(self.change.limit(slot))
        self.run_removed()
        if run.timed:
            self._deadlines.expire_due(run)
        run.session = slot.interruptible
        alone = len(run.futures) == 1 and run.futures[0].start()
        started = run.futures if alone else [future for future in run.futures if future.start()]
        if not started:
            return None
        slot.run = run
        if self._deadlines.run_budget is not None:
            self._deadlines.begin(run, slot.number)
        version = slot.model.version
        for future in started:
            future.model_version = version
            if self._stamps:
                future.started_at = monotonic()
            if self._told:  # after the place is free: `submit` looks at the places without the lock, too
                self._observer.dequeued(future)
        return run

    def _mend(self, slot: Slot, doubt: Doubt) -> None:
        if (doubt is Doubt.CHECK and slot.sound()) or (doubt is Doubt.PROOF and slot.vouched_for()):
            note = partial(self._recoveries.kept, slot)
        else:
            self._recoveries.unsound(slot)
            error = slot.quarantine()
            self._note(error)
            note = partial(self._recoveries.released, slot, error)
        self._slots_changed(slot, note)

    def _leave(self, slot: Slot) -> None:
        self._note(slot.close())
        with self._lock:
            self._present -= 1
            self.news.notify_all()
            if self._present == 0 and self._dismissed:
                self._last_left()

    def _note(self, release_error: BaseException | None) -> None:
        if release_error is not None:
            with self._lock:
                self.release_errors.append(release_error)
