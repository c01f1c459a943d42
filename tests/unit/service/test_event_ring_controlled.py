"""The event ring under the engine, in a service with two slots."""

import pytest
from controlled_programs import explore

PROGRAMS = {
    "stages_agree_with_outcomes": {"fine CANCELLED EXPIRED RuntimeError", "fine CANCELLED RuntimeError SUCCEEDED"},
    "freezing_beside_another_slot": {"fine n1", "fine n2"},
}
# a defect by name: the variant of the service that has it
DEFECTS = {
    "the outcome is there before its incident": (
        "running",
        "        doubt = _SOUND if outcome",
        "        deliver(slot)\n        doubt = _SOUND if outcome",
    ),
    "a task that is ended from outside is not written": ("future", "run.keeper.ending(self, place, error)", "pass"),
    "a start is not written": ("crew", "future.started_at = monotonic()", "pass"),
    "stages are written twice": ("event_ring", "event.at, event.kind,", "id(entry), event.kind,"),
}


@pytest.mark.parametrize("strategy", ["random", "pct"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_interleaving_breaks_it(program, strategy):
    found = explore(f"event_ring_programs:{program}", 100, strategy)
    assert not [answer for answer in found if not answer.startswith("fine")], found
    assert PROGRAMS[program] & set(found), found


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(defect):
    found = explore("event_ring_programs:stages_agree_with_outcomes", 100, "random", DEFECTS[defect])
    assert [answer for answer in found if not answer.startswith("fine")], found
