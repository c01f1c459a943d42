"""The whole service under the engine: every interleaving that random and PCT searches come across."""

import pytest
from controlled_programs import explore

# program: answers of which some must be among those seen, so that what the program is about did happen
PROGRAMS = {
    "cancel_expiry_completion": {"fine SUCCEEDED", "fine CANCELLED", "fine EXPIRED"},
    "deadline_while_waiting": {"fine EXPIRED queued"},
    "replacement": {"fine REPLACED SUCCEEDED"},
    "blocked_submitters": {"fine"},
    "blocked_time_out": {"fine 1"},
    "close_wakes_blocked": {"fine CANCELLED SUCCEEDED"},
    "coalescing": {"fine 1", "fine 2"},
    "run_budget": {"fine OVER BUDGET 1", "fine SUCCEEDED 0"},
    "abandoned": {"fine 1 EXPIRED", "fine 0 EXPIRED"},
    "interrupt_own_run": {"fine EXPIRED", "fine CANCELLED"},
    "broken_session": {"fine 3"},
    "lazy_opening": {"fine 2"},
    "order_and_floor": {"fine 1", "fine 2"},
    "callbacks_reenter": {"fine"},
    "blocking_expiry_callback": {"fine EXPIRED"},
}


# a defect by name: the program that must find it, and the variant
DEFECTS = {
    "a task that is due is started": ("deadline_while_waiting", ("deadlines", "each.due <= now)", "each.due < 0)")),
    "an interrupt is not awaited": ("interrupt_own_run", ("running", "while run.interrupting:", "while False:")),
    "a result is delivered after a cancel": (
        "cancel_expiry_completion",
        ("future", "if self._state != _RUNNING:", "if self._state == _FINISHED:"),
    ),
    "a blocked client is not woken by a free place": ("blocked_submitters", ("crew", "        self._freed()\n", "")),
    "callbacks are lost when the clock stops": (
        "blocking_expiry_callback",
        ("clock", "        self._stopped = True\n", "        self._stopped = True\n        self._heap.clear()\n"),
    ),
    "abandoned runs are counted for ever": (
        "abandoned",
        ("crew", "self._update_health(abandoned=-1)", "self._update_health()"),
    ),
    "a request joins a run under way": (
        "coalescing",
        ("waiting_line", "            del self.by_key[run.key]\n", "            pass\n"),
    ),
    "callers share a dictionary": ("coalescing", ("running", "for_one_caller(outputs)", "outputs")),
    "a result can be written to": ("coalescing", ("outputs", "            array.setflags(False)", "")),
    "the floor is forgotten": (
        "order_and_floor",
        ("waiting_line", "if number % window == rest and", "if window < 0 and"),
    ),
    "a broken session goes on": ("broken_session", ("slot", "else Doubt.UNKNOWN", "else Doubt.NONE")),
    "a replaced task keeps its place": ("replacement", ("future", 'run.desert(waiting=place == "queued")', "None")),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(defect):
    program, variant = DEFECTS[defect]
    found = {}
    for strategy, executions in (("random", 100), ("portfolio", 1_500)):
        found |= explore(program, executions, strategy, variant)
        if any(not answer.startswith("fine") for answer in found):
            return
    pytest.fail(f"{defect}: not found, {found}")


@pytest.mark.parametrize("strategy", ["random", "pct"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_interleaving_breaks_it(program, strategy):
    found = explore(program, 100, strategy)
    assert not [answer for answer in found if not answer.startswith("fine")], found
    assert PROGRAMS[program] & set(found), found
