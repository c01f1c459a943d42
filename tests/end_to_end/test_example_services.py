"""Queues and pools as people write them: what each really gets wrong, no more and no less."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs/examples"
WRONG = {
    # The second of two closes at once returns while the first still waits for the worker.
    # Its worker dies of what is no Exception, and the tasks wait for it for ever.
    "textbook_queue": {
        "close-from-two-threads": {"close-once"},
        "worker-death": {"fault-contained", "no-deadlock", "terminal-once"},
    },
    # Every close closes the session again, and the run reads the caller's own array.
    "executor_service": {
        "close-twice": {"close-once"},
        "close-from-two-threads": {"close-once"},
        "input-overwritten": {"input-frozen", "own-output"},
    },
    # The worker dies where the session does not open, or of what is no Exception, and the tasks wait for it for ever.
    "condition_queue": {
        fault: {"fault-contained", "no-deadlock", "terminal-once"}
        for fault in ("session-open-failure", "delegate-init-failure", "prepared-asset-mismatch", "worker-death")
    },
    # Two closers both see a session left and one waits for it for ever; what had opened before a failure leaks.
    "lifo_pool": {
        "close-from-two-threads": {"close-once", "no-deadlock"},
        "session-open-failure": {"close-once"},
        "prepared-asset-mismatch": {"close-once"},
    },
}
FITTING = {"PASS", "NOT_APPLICABLE"}


@pytest.mark.runtime
@pytest.mark.parametrize("name", WRONG)
def test_it_fails_by_what_it_gets_wrong_and_by_nothing_else(racegate, require_runtime, name):
    require_runtime("litert")
    args = ("--target", "litert", "--seed", 7, "--executions", 30)
    service = f"{EXAMPLES}/{name}.py:factory"
    done = racegate("run", "--service", service, *args)
    assert done.code == 1, done.text
    entries = done.predicate["scenarios"]
    failing = {
        entry["id"]: {item["invariant"] for item in entry["violations"]}
        for entry in entries
        if entry["verdict"] not in FITTING
    }
    assert failing == WRONG[name], done.out
    assert {entry["verdict"] for entry in entries if entry["id"] in failing} == {"FAIL"}
    for entry in entries:
        for token in {item["replayToken"] for item in entry["violations"]}:
            lost = racegate("replay", token)
            assert (lost.code, f"give --service FOLDER/{name}.py:NAME" in lost.text) == (2, True), lost.text
            again = racegate("replay", token, "--service", service)
            assert again.code == 1, again.text
            assert any(f"({invariant}, event" in again.out for invariant in WRONG[name][entry["id"]])


@pytest.mark.parametrize("name", WRONG)
def test_its_factory_is_at_most_ten_lines(name):
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text())
    (factory,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "factory")
    assert factory.end_lineno - factory.lineno + 1 <= 10
