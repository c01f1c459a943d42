"""How refusals of several receipts, requirements and models add up."""

from __future__ import annotations

import json

import pytest
from gate_cases import OTHER_KEY, POLICY, WAIVER, codes, judge, signed
from golden_files import matches_golden
from run_records import MEASURED, MODEL, change, digest, failing_cell, first_cell, run

from harness.verdict import Verdict
from reports import envelope
from reports.gate.rendering import render
from reports.policy import PolicyError
from reports.predicate import statement_bytes

REQUIRE = POLICY[POLICY.index("[[require]]") :]
POOL = REQUIRE.replace('id = "cpu"', 'id = "pool"').replace('kind = "queue", capacity = 4', 'kind = "pool"')


def pool_run(**changes):
    return change(run(run_id="pool-run", **changes), "service", kind="pool", slots=2)


def test_each_requirement_needs_a_receipt_of_its_own(tmp_path):
    queue, pool = signed(run()), signed(pool_run())
    both = judge(tmp_path, queue, pool, policy=POLICY + POOL)
    assert both.decision == "ALLOW"
    assert [(answer.requirement, answer.runs) for answer in both.requirements] == [
        ("cpu", (run().run_id,)),
        ("pool", ("pool-run",)),
    ]
    alone = judge(tmp_path, queue, policy=POLICY + POOL)
    assert codes(alone) == {"NO_RECEIPT", "SERVICE"}
    assert [answer.satisfied for answer in alone.requirements] == [True, False]


def test_what_was_measured_beside_the_executions_decides_nothing(tmp_path):
    """An older receipt has none of it."""
    assert (
        judge(tmp_path, signed(run())).decision == judge(tmp_path, signed(run(measured=MEASURED))).decision == "ALLOW"
    )


def test_a_failing_receipt_beats_a_passing_one(tmp_path):
    failing = signed(run(run_id="first-try", cells=(failing_cell(), *run().cells[1:])))
    for receipts in ((failing, signed(run(attempt=2))), (signed(run(attempt=2)), failing)):
        assert judge(tmp_path, *receipts).decision == "DENY"


def test_a_receipt_about_something_else_changes_nothing_and_is_named(tmp_path):
    other = signed(first_cell(change(run(run_id="other"), "runtime", name="litert"), verdict=Verdict.FAIL))
    decision = judge(tmp_path, other, signed(run()))
    assert decision.decision == "ALLOW"
    assert decision.receipts[0].answers == ()
    assert "receipt-1 answers no requirement and changed nothing" in render(decision)


def test_a_receipt_that_cannot_be_believed_denies_whatever_else_is_there(tmp_path):
    for doubtful in (envelope.unsigned(statement_bytes(run())), signed(run(), OTHER_KEY), b"{"):
        assert judge(tmp_path, signed(run()), doubtful).decision == "DENY"


def test_the_same_receipt_twice_is_one(tmp_path):
    decision = judge(tmp_path, signed(run()), signed(run()))
    assert len(decision.receipts) == 1


def test_several_models_need_requirements_that_say_which(tmp_path):
    with pytest.raises(PolicyError, match=r"require\[cpu\].model_sha256: missing"):
        judge(tmp_path, signed(run()), models=(MODEL, digest("second")))


def test_two_models_each_with_its_requirement(tmp_path):
    def pinned(text: str, name: str, model: str) -> str:
        return text.replace('id = "cpu"', f'id = "{name}"\nmodel_sha256 = "{model}"')

    second = digest("second")
    policy = POLICY.replace(REQUIRE, "") + pinned(REQUIRE, "one", MODEL) + pinned(REQUIRE, "two", second)
    cells = tuple(
        type(cell)(**{**{name: getattr(cell, name) for name in cell.__struct_fields__}, "model_digest": second})
        for cell in run().cells
    )
    other = signed(run(run_id="second", model_digest=second, cells=cells))
    assert judge(tmp_path, signed(run()), other, policy=policy, models=(MODEL, second)).decision == "ALLOW"
    # The second model must not ship on the first one's receipt.
    assert judge(tmp_path, signed(run()), policy=policy, models=(MODEL, second)).decision == "DENY"


def test_an_advisory_run_decides_the_same_and_says_so(tmp_path):
    decision = judge(tmp_path, advisory=True)
    assert (decision.decision, decision.exit_code) == ("DENY", 0)
    assert render(decision).startswith("WOULD DENY")
    assert "exit code is 0 whatever was decided" in render(decision)
    assert json.loads(decision.to_json())["advisory"] is True
    assert judge(tmp_path).exit_code == 1


def test_the_decision_is_canonical_and_has_no_nulls(tmp_path):
    data = judge(tmp_path, signed(run()), policy=POLICY + WAIVER).to_json()
    assert b"null" not in data
    assert json.loads(data)["decision"] == "ALLOW"


def test_a_second_attempt_is_shown(tmp_path):
    assert "is attempt 3" in render(judge(tmp_path, signed(run(attempt=3))))


def test_a_terminal_is_not_steered_by_a_receipt(tmp_path):
    decision = judge(tmp_path, signed(change(run(), "runtime", version="1\x1b[2J\nALLOW")))
    assert "\x1b" not in render(decision)
    assert not any(line.startswith("ALLOW") for line in render(decision).splitlines())


def test_text_of_an_allow(tmp_path):
    matches_golden("allow.txt", render(judge(tmp_path, signed(run()), signed(pool_run()), policy=POLICY + POOL)))


def test_text_of_a_deny(tmp_path):
    failing = run(run_id="failing", attempt=2, cells=(failing_cell(), *run().cells[1:]))
    fallen = change(pool_run(), "delegate", fallback=True)
    receipts = (signed(failing), signed(fallen), envelope.unsigned(statement_bytes(run())))
    matches_golden("deny.txt", render(judge(tmp_path, *receipts, policy=POLICY + POOL)))
