"""evidence-true: what a service keeps of an error or a time-out is there before its client knows, and is so.

An incident is looked for by whoever has just been told of the error: it must be there by then. What it says of the task
is compared with what was seen at the client and at the session seam at that moment; what may have been in between the
service alone knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.history import Event
from harness.invariants.extents import Extent, Moment, cannot_tell, extents_of, moment_at
from harness.invariants.index import FOREVER, Call, Index, whole
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.invariants.places import queue_of
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "evidence-true"
_ORDER = ("accepted", "started", "returned")
_CLASSES = 8
"""Of how many classes of errors an incident is kept at least."""

Breach = tuple[str, tuple[int, ...]]
Error = tuple[str, Event]
"""The class, empty where it is not known, and when its client was told."""


def check(index: Index) -> Judgement:
    """Premise: somebody looked at incidents after an error or a time-out, or at the evidence of a task."""
    looks = [
        call for call in index.calls("look") if call.answered("told") and "distinct" in (call.end or call.begin).attrs
    ]
    if not looks:
        return NOT_OCCURRED
    if unclear := cannot_tell(index):
        return Judgement(0, (), unclear)
    judge = _Judge(index)
    found: list[Breach] = []
    checked = 0
    for look in looks:
        errors, evidence = judge.errors_before(look), judge.told("evidence", look)
        checked += len(errors) + len(evidence)
        found.extend(judge.breaches(look, errors, evidence))
    return Judgement(checked, tuple(Violation(_ID, message, events) for message, events in found))


class _Judge:
    """Compares what was told in a look with everything else in the history."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.extents = {each.task.id: each for each in extents_of(index)}
        self.queue = queue_of(index, whole(index.service("capacity"), -1))
        self.tells = self.queue.tells

    def told(self, kind: str, look: Call) -> Sequence[Event]:
        """What was told in this look."""
        return [event for event in self.index.of(kind) if event.attrs["call"] == look.begin.attrs["call"]]

    def breaches(self, look: Call, errors: Sequence[Error], evidence: Sequence[Event]) -> Iterator[Breach]:
        """What was not so of what was told in one look, after these errors."""
        assert look.end is not None, "only looks that ended are judged"
        incidents = self.told("incident", look)
        if look.end.attrs["payload"] or any(each.attrs["payload"] for each in incidents):
            yield "an event holds more than numbers and names", (look.begin.seq, look.end.seq)
        if not look.end.attrs["distinct"]:
            yield "two tasks have the same name", (look.begin.seq, look.end.seq)
        if not look.end.attrs["ordered"]:
            yield "the last events are not in order of time", (look.begin.seq, look.end.seq)
        if untold := look.end.attrs["untold"]:
            yield f"no event tells that {untold} was accepted", (look.begin.seq, look.end.seq)
        yield from self._missing(look, errors, incidents)
        for event in incidents:
            yield from self._untrue(event, moment_at(self.index, whole(event.attrs["at"], 0), before=look.end))
            yield from self._of_another(event)
        for event in evidence:
            # It may have been looked up at any moment since; its own time was read last.
            yield from self._untrue(event, Moment(look.begin.seq, event.seq))

    # -- whether there is one for each error --------------------------------------------------------------------------

    def errors_before(self, look: Call) -> list[Error]:
        """The errors and time-outs that clients had been told of."""
        failed = [
            (str(task.delivers[0].attrs.get("error", "")), task.delivers[0])
            for task in self.index.tasks.values()
            if task.outcome in {"FAILED", "EXPIRED"} and task.delivers[0].seq < look.begin.seq
        ]
        waits = [call.end for call in self.index.waits if call.end is not None and self._in_vain(call)]
        return failed + [("TimeoutError", end) for end in waits if end.seq < look.begin.seq]

    def _in_vain(self, call: Call) -> bool:
        """Whether the wait ended before its task, which the service is told of."""
        extent = self.extents.get(call.begin.task or "")
        timed_out = call.answered("timed-out") and whole(call.begin.attrs["timeout_ms"], 0) > 0
        return timed_out and extent is not None and call.end is not None and extent.may_end > call.end.seq

    def _missing(self, look: Call, errors: Sequence[Error], incidents: Sequence[Event]) -> Iterator[Breach]:
        if len({name for name, _ in errors}) > _CLASSES:
            return
        for name, event in errors:
            named = [each for each in incidents if name in {"", each.attrs["error"]}]
            if name == "":
                named = [each for each in named if each.attrs["how"] == "expired"]
            if not named:
                what = f"was {event.attrs['outcome']}" if event.kind == "deliver" else "was waited for in vain"
                yield f"{event.task} {what}, and there was no incident of it", (event.seq, look.begin.seq)
            elif all(self._cannot_be_of(name, each) for each in named):
                others = " and ".join(sorted({str(each.attrs["names"]) for each in named}))
                yield f"the incident of {event.task} is one of {others}", (event.seq, named[0].seq)

    def _cannot_be_of(self, name: str, incident: Event) -> bool:
        """Whether the task that an incident names certainly never had this error."""
        extent = self.extents.get(str(incident.attrs["names"]))
        if extent is None:
            return incident.attrs["names"] is not None  # its submit may not have returned
        waits = [call for call in self.index.waits if call.begin.task == extent.task.id]
        if name == "TimeoutError" and waits:
            return all(whole(each.begin.attrs["timeout_ms"], -1) <= 0 for each in waits)
        error = str(extent.task.delivers[0].attrs.get("error", "")) if extent.task.delivers else ""
        expired = name == "" and extent.task.outcome == "EXPIRED"
        tried = any(run.last.attrs.get("answer") == "error" for run in extent.task.runs)
        return not (expired or (name != "" and error == name) or tried)

    # -- whether it is so ---------------------------------------------------------------------------------------------

    def _of_another(self, event: Event) -> Iterator[Breach]:
        """The order of the stages, and whether event and evidence are of one task."""
        if event.attrs["names"] != event.task:
            yield f"an incident of {event.attrs['names']} has the evidence of {event.task}", (event.seq,)
        stages = str(event.attrs["stages"]).split()
        if [_ORDER.index(stage) for stage in stages] != sorted(_ORDER.index(stage) for stage in stages):
            yield f"the stages of {event.task} are told as {', '.join(stages)}", (event.seq,)
        extent = self.extents.get(event.task or "")
        if extent is None:
            return
        moment = moment_at(self.index, whole(event.attrs["at"], 0), before=event)
        ran = any(run.over <= moment.after for run in extent.task.runs) and extent.task.key is None
        reached = {
            "accepted": extent.entered <= moment.after,
            "started": extent.started <= moment.after,
            "returned": ran and event.attrs["how"] == "failed",
        }
        for stage, surely in reached.items():
            if surely and stage not in stages:
                yield f"an incident of {event.task} does not tell that it was {stage}", (event.seq,)

    def _untrue(self, event: Event, moment: Moment) -> Iterator[Breach]:
        extent = self.extents.get(event.task or "")
        if extent is None:
            return
        for says in (
            self._times(event, extent, moment),
            self._place(event, extent, moment),
            self._depth(event, moment),
        ):
            if says:
                yield f"the evidence of {event.task} {says}", (event.seq,)

    def _times(self, event: Event, extent: Extent, moment: Moment) -> str:
        at = whole(event.attrs["at"], 0)
        accepted, started = event.attrs["accepted_at"], event.attrs["started_at"]
        submit = extent.task.submit
        over = FOREVER if submit.end is None else submit.end.at_ns
        if accepted is None and extent.entered <= moment.after:
            return "does not tell when it was accepted"
        if isinstance(accepted, int) and not submit.begin.at_ns <= accepted <= min(over, at):
            return "has it accepted outside its submit"
        if started is None and extent.started <= moment.after:
            return "does not tell that it has started"
        if isinstance(started, int) and (extent.may_start >= moment.before or not whole(accepted, 0) <= started <= at):
            return "has it started when it had not"
        return ""

    def _place(self, event: Event, extent: Extent, moment: Moment) -> str:
        """Who waits for what, and who holds the buffers."""
        waits, holder = event.attrs["waits_for"], event.attrs["held_by"]
        if extent.ended <= moment.after and event.kind == "evidence":
            return f"has it wait for {waits}, and it had ended" if waits is not None else ""
        if not extent.held(moment):
            return ""
        if self.tells and extent.waits(moment) and (waits, holder) != ("a slot", "queue"):
            return f"has it wait for {waits} with its buffers held by {holder}, and it was in the queue"
        return "" if extent.running(moment) is None else self._place_on_a_slot(event, self._slot_of(extent, moment))

    def _place_on_a_slot(self, event: Event, slot: str | None) -> str:
        waits, holder = event.attrs["waits_for"], event.attrs["held_by"]
        if slot is None:
            return "" if waits == holder and str(waits).startswith("slot") else f"has it wait for {waits}, and it ran"
        if (waits, holder) != (slot, slot):
            return f"has it wait for {waits} with its buffers held by {holder}, and it ran on {slot}"
        return "" if slot in self._busy(event) else f"does not count {slot}, on which it ran, among the busy ones"

    def _slot_of(self, extent: Extent, moment: Moment) -> str | None:
        leases = (each for each in self.index.of("lease-begin") if each.task == extent.task.id)
        return max(((each.seq, each.slot) for each in leases if each.seq <= moment.after), default=(0, None))[1]

    def _busy(self, event: Event) -> set[str]:
        return {use.partition(":")[0] for use in str(event.attrs["busy"]).split()}

    def _depth(self, event: Event, moment: Moment) -> str:
        depth = whole(event.attrs["queue_depth"], 0)
        stays = self.queue.stays
        sure = (each for each in stays if each.may_leave >= moment.before and self.extents[each.task].held(moment))
        least = len({each.key or each.task for each in sure}) - (0 if self.tells else self.queue.workers)
        most = sum(each.may_enter < moment.before and each.gone > moment.after for each in stays)
        return "" if least <= depth <= most else f"has {depth} in the queue, and it was {least} to {most}"


INVARIANT = Invariant(
    id=_ID,
    statement="What is kept of an error or a time-out is there before its client knows of it, and is so.",
    check=check,
)
