"""Utilities and scores: the formula, the floor, who counts, and the batch against one sender at a time."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lcca.evaluation.trials.throughput_delay import (
    FLOOR_DELAY_US,
    FLOOR_THROUGHPUT,
    SenderTotals,
    ThroughputDelay,
    latest_start_us,
    mean_trials,
    score_trials,
)
from lcca.evaluation.trials.utilities import UTILITIES, UtilityModel, utility
from lcca.inputs.errors import InputError

DEFAULT = utility("default")
NEVER = math.inf


def senders(rows: list[tuple[int, float, float, float, float]], trials: int, latest: float = 970.0) -> SenderTotals:
    """Rows of (trial, delivered, delay sum, share, first on)."""
    trial, delivered, delay, share, first = (np.array(column) for column in zip(*rows, strict=True))
    return SenderTotals(
        delivered=delivered.astype(np.int64),
        delay_sum_us=delay.astype(np.float64),
        share_us=share.astype(np.float64),
        first_on_us=first.astype(np.float64),
        trial=trial.astype(np.int64),
        latest_start_us=np.full(trials, latest),
    )


WEIGHTED = {name: each for name, each in UTILITIES.items() if isinstance(each, ThroughputDelay)}


def test_the_five_utilities() -> None:
    weights = {name: (each.throughput_weight, each.delay_weight) for name, each in WEIGHTED.items()}
    assert weights == {"default": (1, 1), "2t": (2, 1), "2d": (1, 2), "100t": (100, 1), "100d": (1, 100)}


def test_formula() -> None:
    assert DEFAULT.of([4.0], [25.0])[0] == pytest.approx(2 + 2)
    assert utility("2t").of([4.0], [200.0])[0] == pytest.approx(4 - 1)
    assert utility("100d").of([1.0], [200.0])[0] == pytest.approx(-100)


def test_score_is_the_mean_over_senders() -> None:
    # T = 2 and D = 50: 1 + 1 bits; T = 1 and D = 100: 0 bits.
    two = senders([(0, 200, 200 * 50.0, 100.0, 0.0), (0, 100, 100 * 100.0, 100.0, 5.0)], trials=1)
    found = score_trials(DEFAULT, two)
    assert found.score_bits[0] == pytest.approx(1.0)
    assert (found.senders_counted[0], found.starved[0]) == (2, 0)


def test_a_starved_sender_scores_the_floor_and_is_reported() -> None:
    one = senders([(0, 0, 0.0, 500.0, 100.0)], trials=1)
    found = score_trials(DEFAULT, one)
    assert found.score_bits[0] == pytest.approx(math.log2(FLOOR_THROUGHPUT) - math.log2(FLOOR_DELAY_US / 100))
    assert found.score_bits[0] == pytest.approx(-15)
    assert (found.senders_counted[0], found.starved[0]) == (1, 1)


def test_throughput_is_floored_and_monotone_there() -> None:
    low = senders([(0, 1, 50.0, 1e6, 0.0), (1, 1, 50.0, 2e6, 0.0)], trials=2)
    scores = score_trials(DEFAULT, low).score_bits
    assert scores[0] == scores[1] == pytest.approx(-10 + 1)


def test_who_does_not_count() -> None:
    rows = [
        (0, 100, 100 * 100.0, 100.0, 0.0),  # scores 0
        (0, 0, 0.0, 0.0, NEVER),  # never on
        (0, 0, 0.0, 0.0, math.nan),  # never on, as NaN
        (0, 0, 0.0, 10.0, 970.1),  # too late for anything to arrive
        (0, 1, 50.0, 0.0, 10.0),  # on for no time at all: throughput is not defined
    ]
    found = score_trials(DEFAULT, senders(rows, trials=1))
    assert (found.senders_counted[0], found.starved[0]) == (1, 0)
    assert found.score_bits[0] == pytest.approx(0)


def test_the_last_moment_to_start_counts() -> None:
    latest = latest_start_us(1000.0, np.array([27.0]), np.array([3.0]))[0]
    assert latest == pytest.approx(1000 - 27 - 1 / 3)
    rows = [(0, 0, 0.0, 10.0, latest), (1, 0, 0.0, 10.0, np.nextafter(latest, 2000))]
    found = score_trials(DEFAULT, senders(rows, trials=2, latest=latest))
    assert found.starved.tolist() == [1, 0]
    assert found.score_bits[0] == pytest.approx(-15) and math.isnan(found.score_bits[1])


def test_a_sender_whose_packets_were_all_dropped_at_once_is_starved() -> None:
    """Its flow was over as it began, so it has no share of time; but it had something to send."""
    found = score_trials(DEFAULT, senders([(0, 0, 0.0, 0.0, 10.0)], trials=1))
    assert (found.score_bits[0], found.starved[0]) == (pytest.approx(DEFAULT.worst), 1)


def test_late_but_served_counts() -> None:
    rows = [(0, 10, 10 * 100.0, 10.0, 999.0)]
    assert score_trials(DEFAULT, senders(rows, trials=1)).score_bits[0] == pytest.approx(0)


def test_a_trial_without_senders_says_nothing() -> None:
    found = score_trials(DEFAULT, senders([(1, 100, 100 * 100.0, 100.0, 0.0)], trials=3))
    assert found.senders_counted.tolist() == [0, 1, 0]
    assert np.isnan(found.score_bits).tolist() == [True, False, True]


def one_at_a_time(wanted: ThroughputDelay, totals: SenderTotals, trial: int) -> float:
    scores = []
    for i in np.flatnonzero(totals.trial == trial):
        got, share, first = totals.delivered[i], totals.share_us[i], totals.first_on_us[i]
        if not first < NEVER or (got > 0 and share == 0) or (got == 0 and first > totals.latest_start_us[trial]):
            continue
        throughput = max(got / share if got else 0, FLOOR_THROUGHPUT)
        delay = totals.delay_sum_us[i] / got if got else FLOOR_DELAY_US
        scores.append(wanted.throughput_weight * math.log2(throughput) - wanted.delay_weight * math.log2(delay / 100))
    return float(np.mean(scores)) if scores else math.nan


@given(seed=st.integers(0, 10**6), name=st.sampled_from(list(WEIGHTED)))
def test_batch_equals_one_at_a_time_in_any_order(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    n, trials = 60, 8
    delivered = rng.integers(0, 4, n) * rng.integers(1, 500, n)
    totals = SenderTotals(
        delivered=delivered,
        delay_sum_us=delivered * rng.uniform(20, 60, n),
        share_us=rng.uniform(0, 900, n) * (rng.random(n) < 0.9),
        first_on_us=np.where(rng.random(n) < 0.9, rng.uniform(0, 1000, n), NEVER),
        trial=rng.integers(0, trials, n),
        latest_start_us=rng.uniform(900, 1000, trials),
    )
    found = score_trials(utility(name), totals).score_bits
    expected = [one_at_a_time(utility(name), totals, trial) for trial in range(trials)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_means_have_no_floor() -> None:
    rows = [
        (0, 300, 300 * 40.0, 100.0, 0.0),  # T 3
        (0, 100, 100 * 60.0, 100.0, 0.0),  # T 1
        (0, 0, 0.0, 100.0, 0.0),  # starved: T 0, no delay
        (1, 100, 100 * 60.0, 100.0, 0.0),
        (2, 0, 0.0, 100.0, 0.0),
    ]
    means = mean_trials(senders(rows, trials=3), np.array([4.0, 2.0, 2.0]))
    assert means.throughput_share.tolist() == pytest.approx([4 / 3, 1, 0])
    assert means.delay_us[:2].tolist() == pytest.approx([50, 60]) and math.isnan(means.delay_us[2])
    assert means.fairness[0] == pytest.approx(np.std([3 / 4, 1 / 4, 0]))
    assert np.isnan(means.fairness[1:]).all()


def test_unknown_names() -> None:
    with pytest.raises(InputError, match=r"unknown utility 'defualt'.*did you mean 'default'"):
        utility("defualt")


def test_model_forms() -> None:
    assert UtilityModel.model_validate("2t").build() == utility("2t")
    assert UtilityModel.model_validate({"name": "2d"}).build() == utility("2d")
    own = {"name": "mine", "throughput_weight": 3, "delay_weight": 0}
    assert UtilityModel.model_validate(own).build() == ThroughputDelay("mine", 3, 0)
    again = UtilityModel.model_validate(UtilityModel.model_validate("100d").model_dump())
    assert again.build() == utility("100d")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("2x", "unknown utility '2x'"),
        ({"name": "mine", "throughput_weight": 1}, "delay_weight"),
        ({"name": "mine", "throughput_weight": -1, "delay_weight": 1}, "greater than or equal to 0"),
        ({"name": "mine", "throughput_weight": 0, "delay_weight": 0}, "must not both be 0"),
        ({"name": "2t", "throughput_weight": 3, "delay_weight": 1}, "is another utility"),
        ({"name": "mine", "throughput_weight": math.inf, "delay_weight": 1}, "finite"),
        ({"name": "mine", "throughput_weight": 1, "delay_weight": 1, "extra": 1}, "extra"),
        (3, "valid dictionary"),
    ],
)
def test_model_refuses(wrong: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        UtilityModel.model_validate(wrong)
