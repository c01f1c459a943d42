import dataclasses
import json

import pytest

from harness.service.capacity_estimate import CapacityEstimate

ESTIMATE = CapacityEstimate(weights=1000, base=10, per_unit=2, reserve=100)


def test_the_total_is_weights_live_requests_and_reserve():
    assert ESTIMATE.total() == 1100
    assert ESTIMATE.request() == 10
    assert ESTIMATE.request(5) == 20
    assert ESTIMATE.total([0, 5, 45]) == 1100 + 10 + 20 + 100


def test_live_requests_fit_up_to_the_last_byte():
    assert ESTIMATE.fits_live([5, 5], 1140)
    assert not ESTIMATE.fits_live([5, 5], 1139)
    assert ESTIMATE.fits_live([], 1100)
    assert not ESTIMATE.fits_live([], 1099)


@pytest.mark.parametrize("limit", range(1050, 1300, 7))
@pytest.mark.parametrize("length", [0, 1, 13])
def test_the_most_that_fit_fit_and_one_more_does_not(limit, length):
    most = ESTIMATE.most_live(length, limit)
    assert most == 0 or ESTIMATE.fits_live([length] * most, limit)
    assert not ESTIMATE.fits_live([length] * (most + 1), limit)


def test_a_record_makes_the_same_estimate_again():
    assert CapacityEstimate(**json.loads(json.dumps(ESTIMATE.record()))) == ESTIMATE
    with pytest.raises(dataclasses.FrozenInstanceError):
        ESTIMATE.weights = 1


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("weights", -1, ValueError),
        ("base", 0, ValueError),
        ("per_unit", -1, ValueError),
        ("reserve", -5, ValueError),
        ("weights", 1.5, TypeError),
        ("base", True, TypeError),
        ("per_unit", None, TypeError),
    ],
)
def test_a_value_that_makes_no_estimate_is_refused_by_name(field, value, error):
    with pytest.raises(error, match=field):
        CapacityEstimate(**{**ESTIMATE.record(), field: value})


@pytest.mark.parametrize("length", [-1, 2.0, True])
def test_a_length_is_a_whole_number_of_units(length):
    with pytest.raises((TypeError, ValueError), match="length"):
        ESTIMATE.request(length)
