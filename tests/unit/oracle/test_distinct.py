"""Answers are told apart also where they hold infinities, no numbers, text, or no dimension."""

from __future__ import annotations

import numpy as np
import pytest

from adapters.base import Contract, TensorSpec
from harness.digests import array_digest, part_digests
from harness.oracle.expectations import Recipe
from harness.oracle.inputs import make_input
from harness.oracle.reference import _differ

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ([-INF, 1.0], [-INF, 2.0], True),
        ([NAN, 1.0], [NAN, 2.0], True),
        ([-INF, 1.0], [1.0, -INF], True),
        ([NAN, 1.0], [1.0, 1.0], True),
        ([-INF, 1.0], [-INF, 1.0], False),
        ([NAN, INF], [NAN, INF], False),
        ([NAN, 1.0], [NAN, 1.0 + 1e-9], False),
    ],
)
def test_a_mask_in_the_answers_does_not_hide_the_difference(one, other, differ):
    assert _differ(np.array(one), np.array(other)) is differ


def test_text_is_known_by_what_it_says():
    one, same, other = (np.array([text], dtype=object) for text in ("cat", bytes([99, 97, 116]).decode(), "dog"))
    assert array_digest(one) == array_digest(same) != array_digest(other)
    assert part_digests(one) == part_digests(same) != part_digests(other)


def test_an_input_without_a_dimension_is_an_array():
    contract = Contract(inputs=(TensorSpec(name="rate", dtype="float32", shape=()),), outputs=())
    made = make_input(contract, Recipe("unit", 1, {"rate": ()}))["rate"]
    assert isinstance(made, np.ndarray)
    assert made.shape == ()
