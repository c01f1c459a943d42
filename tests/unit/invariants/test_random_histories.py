"""A correct queue, simulated with overlapping calls, is never flagged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.invariants.catalogue import check_all

MODES = ("controlled", "stress")
seeds = st.integers(0, 2**32)
modes = st.sampled_from(MODES)


@given(seed=seeds, mode=modes)
@settings(max_examples=400, deadline=None)
def test_a_correct_queue_is_never_flagged(execution, seed, mode):
    book, _ = execution(seed, mode)
    for id_, judgement in check_all(book.history()).items():
        assert judgement.violations == (), id_
        assert judgement.unknown == "", id_


NOT_HERE = {"fresh-only", "one-version", "recovery-order", "residency", "evidence-true"}
"""What one queue of one model with no run budget and no event ring gives no occasion for."""


@pytest.mark.parametrize("mode", MODES)
def test_the_correct_queue_makes_every_premise_occur(execution, mode):
    checked = {}
    for seed in range(300):
        book, _ = execution(seed, mode)
        for id_, judgement in check_all(book.history()).items():
            checked[id_] = checked.get(id_, 0) + judgement.checked
    counted = {"counters-true"} if mode == "stress" else set()  # what a look saw is judged where one order is known
    assert {id_ for id_, count in checked.items() if not count} == {"output-owned"} | NOT_HERE | counted
