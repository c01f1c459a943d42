"""What shows nothing never passes."""

NOTHING = '''
from harness.scenario import scenario


@scenario
def nothing(script):
    """Claims much and does nothing."""


@scenario(exercises=("own-output", "capacity"))
def too_little(script):
    """Runs a task, and never fills the queue that it is about."""
    service = script.open_service()
    service.submit(script.task()).result()
    service.close()


@scenario(requires=("time-travel",))
def not_for_anybody(script):
    """Nobody declares that."""
'''


def run(racegate, *args):
    done = racegate("run", "--target", "numpy", "--service", "queue", "--executions", 5, "--seed", 1, *args)
    assert done.code == 3, done.text
    assert done.predicate["verdict"] == "UNKNOWN"
    return done


def said(done):
    return " ".join(done.out.split())


def test_outputs_that_are_all_equal_tell_no_tasks_apart(racegate):
    done = run(racegate, "--model", "builtin:constant", "--scenario", "many-clients", "--scenario", "queued-cancel")
    assert done.verdicts == {"many-clients": "UNKNOWN", "queued-cancel": "UNKNOWN"}
    assert "tell these tasks apart" in said(done) or "tell 1 tasks apart" in said(done), done.out


def test_a_model_with_hidden_state_is_named(racegate):
    done = run(racegate, "--model", "builtin:stateful", "--scenario", "many-clients")
    assert done.verdicts == {"many-clients": "UNKNOWN"}
    assert "hidden state" in said(done)
    assert "model builtin:stateful" in said(done)
    (entry,) = done.predicate["scenarios"]
    (own_output,) = (tally for tally in entry["invariants"] if tally["id"] == "own-output")
    assert (own_output["checked"], own_output["violated"]) == (0, 0)
    assert own_output["unknown"].startswith("hidden state: ")


def test_a_scenario_whose_premise_never_occurred_is_unknown(racegate):
    (racegate.folder / "mine.py").write_text(NOTHING)
    done = run(racegate, "--scenario", "mine.py:nothing", "--scenario", "mine.py:too_little")
    assert set(done.verdicts.values()) == {"UNKNOWN"}
    assert "premise" in said(done)
    assert "capacity" in said(done)


def test_a_run_in_which_nothing_applies_is_undecided(racegate):
    (racegate.folder / "mine.py").write_text(NOTHING)
    done = run(racegate, "--scenario", "mine.py:not_for_anybody")
    assert set(done.verdicts.values()) == {"NOT_APPLICABLE"}
    assert "the service does not declare time-travel" in said(done)
