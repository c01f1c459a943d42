"""The asyncio front under the engine, on its event loop: random and PCT searches, in virtual time."""

import pytest
from controlled_programs import explore

PROGRAMS = {
    "cancel_races_completion": {"fine CANCELLED CANCELLED", "fine SUCCEEDED SUCCEEDED"},
    "cancel_of_a_running_task": {"fine CANCELLED running"},
    "close_while_awaiting": {"fine SUCCEEDED SUCCEEDED ABORTED", "fine ABORTED ABORTED ABORTED"},
    "loop_closed_with_work_in_flight": {"fine SUCCEEDED SUCCEEDED"},
    "turns": {"fine SUCCEEDED", "fine full"},
}
# a defect by name: the program that must find it, and the variant of the service that has it
DEFECTS = {
    "a loop is told from another thread": (
        "cancel_of_a_running_task",
        ("aio", "loop.call_soon_threadsafe(call)", "call()"),
    ),
    "a cancel does not reach the inference task": (
        "cancel_of_a_running_task",
        ("aio", "                future.give_up(_on_a_thread)\n", "                pass\n"),
    ),
    "a turn is not given up": ("turns", ("aio", "self.service.give_up(turn)", "pass")),
    "a turn is not told of a free place": ("turns", ("admission", "turn.wake()", "pass")),
    "who waits behind is let in first": ("turns", ("admission", "[*queue][:1]", "[*queue][1:]")),
    "an abort looks like a cancelled task": (
        "close_while_awaiting",
        ("aio", "            return future.result(0)\n", "            return await asyncio.wrap_future(future)\n"),
    ),
    "a closed loop stops the worker": (
        "loop_closed_with_work_in_flight",
        ("aio", "    with suppress(RuntimeError):  # it", "    with suppress(KeyError):  # it"),
    ),
}


@pytest.mark.parametrize("strategy", ["random", "pct"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_interleaving_breaks_it(program, strategy):
    found = explore(f"aio_programs:{program}", 60, strategy)
    assert not [answer for answer in found if not answer.startswith("fine")], found
    assert PROGRAMS[program] & set(found), found


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(defect):
    program, variant = DEFECTS[defect]
    found = {}
    for strategy, executions in (("random", 10), ("pct", 100)):
        found |= explore(f"aio_programs:{program}", executions, strategy, variant)
        if any(not answer.startswith("fine") for answer in found):
            return
    pytest.fail(f"{defect}: not found, {found}")
