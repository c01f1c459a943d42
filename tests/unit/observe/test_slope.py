"""The slope of synthetic series whose true growth is known."""

import numpy as np
import pytest

from harness.observe.slope import slope_of

KIB = 1024.0


def noise(seed, size, scale=50 * KIB):
    return np.random.default_rng(seed).normal(0.0, scale, size)


def test_a_leak_of_four_kib_a_round_is_found_under_noise():
    slope = slope_of(np.arange(60) * 4 * KIB + noise(1, 60))
    assert slope.grows(tolerance=KIB)
    assert slope.low < 4 * KIB < slope.high
    assert slope.per_round == pytest.approx(4 * KIB, rel=0.2)


def test_noise_is_no_leak():
    found = [slope_of(noise(seed, 60)).grows() for seed in range(400)]
    assert sum(found) <= 8  # 99 % two-sided: 2 of 400 are expected on this side


def test_the_interval_holds_the_true_slope_as_often_as_it_says():
    held = 0
    for seed in range(300):
        slope = slope_of(np.arange(40) * 7.0 + noise(seed, 40, 100.0), confidence=0.95)
        held += slope.low <= 7.0 <= slope.high
    assert held >= 0.92 * 300


def test_a_count_that_never_changes_has_slope_nought_and_no_width():
    slope = slope_of([3] * 20)
    assert (slope.per_round, slope.low, slope.high, slope.rounds) == (0.0, 0.0, 0.0, 20)
    assert not slope.grows()


def test_one_more_each_round_is_exactly_one():
    slope = slope_of(range(20))
    assert (slope.per_round, slope.low, slope.high) == (1.0, 1.0, 1.0)
    assert slope.grows()


def test_a_step_is_no_slope():
    # A cache that is filled once, late: least squares would give it 5.8 a round.
    readings = np.full(60, 100.0)
    readings[40:] += 300.0
    assert not slope_of(readings).grows()
    assert np.polyfit(np.arange(60), readings, 1)[0] > 5.0


def test_wild_readings_do_not_move_it():
    readings = np.arange(60) * 2.0
    readings[::7] += 10_000.0
    assert slope_of(readings).per_round == pytest.approx(2.0, abs=0.5)


def test_a_leak_every_other_round_is_half_of_one():
    slope = slope_of(np.arange(60) // 2)
    assert slope.grows()
    assert slope.per_round == pytest.approx(0.5, abs=0.05)


def test_the_warm_up_does_not_count():
    readings = np.concatenate([np.arange(40) * 1000.0, np.full(20, 40_000.0)])
    assert slope_of(readings).grows()
    slope = slope_of(readings, warm_up=40)
    assert not slope.grows()
    assert slope.rounds == 20


def test_what_shrinks_does_not_grow():
    assert not slope_of(-np.arange(30)).grows()


@pytest.mark.parametrize(("readings", "options"), [(range(7), {}), (range(20), {"warm_up": 15})])
def test_too_few_readings_are_refused(readings, options):
    with pytest.raises(ValueError, match="at least 8 readings"):
        slope_of(readings, **options)


def test_an_unknown_confidence_is_refused():
    with pytest.raises(ValueError, match=r"0\.95, 0\.99, 0\.999"):
        slope_of(range(20), confidence=0.9)
