"""Scores and winners of CC-Bench against intervals worked out by hand."""

import numpy as np
import pytest

from lcca.studies.ccbench.scores import FairShareScore, PowerScore

POWER, FAIR = PowerScore(), FairShareScore()


def test_power_of_whole_mbps_and_ms() -> None:
    # 46.4 → 46 Mb/s, 52.4 → 52 ms: 2116 / 52 = 40.69; 40 Mb/s, 36 ms: 1600 / 36 = 44.44; 47.6 → 48: 2304 / 60 = 38.4
    scores = POWER.scores([46.4, 40.0, 47.6], [52.4, 36.0, 60.0], 48)
    assert scores == pytest.approx([2116 / 52, 1600 / 36, 38.4])


def test_those_within_ten_percent_of_the_best_power_win() -> None:
    # nine tenths of 44.44 are 40.0: 40.69 wins too, 38.4 does not
    assert POWER.winners([46.4, 40.0, 47.6], [52.4, 36.0, 60.0], 48).tolist() == [True, True, False]


def test_nine_tenths_of_the_best_are_enough() -> None:
    assert POWER.winners([30, 30], [90, 100], 48).tolist() == [True, True]  # 10 and 9
    assert POWER.winners([30, 30], [90, 101], 48).tolist() == [True, False]


def test_a_control_that_got_nothing_through_wins_nothing() -> None:
    assert POWER.winners([np.nan, 0.4, 10.0], [np.nan, 30.0, 30.0], 12).tolist() == [False, False, True]
    assert not POWER.winners([np.nan, 0.2], [np.nan, 30.0], 12).any()


def test_fair_share_by_hand() -> None:
    # half of 48 is 24; distances of 21, 28 and 12 Mb/s: 3, 4 and 12; winners from 0.9 · 21 = 18.9 to 1.1 · 27 = 29.7
    assert FAIR.scores([21.2, 28.0, 12.0], [1, 1, 1], 48).tolist() == [3, 4, 12]
    assert FAIR.winners([21.2, 28.0, 12.0], [1, 1, 1], 48).tolist() == [True, True, False]
    # 19 and 29 are inside too, 18 and 30 are not
    assert FAIR.winners([21, 19, 29, 18, 30], [1] * 5, 48).tolist() == [True, True, True, False, False]


def test_a_silent_flow_is_half_of_the_rate_away_from_its_share() -> None:
    assert FAIR.scores([np.nan, 6.0], [np.nan, 1.0], 12).tolist() == [6, 0]
    assert FAIR.winners([np.nan, 6.0], [np.nan, 1.0], 12).tolist() == [False, True]


@pytest.mark.parametrize("score", [POWER, FAIR])
def test_somebody_wins_whenever_somebody_sends(score: PowerScore | FairShareScore) -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        link = float(rng.choice([12, 24, 48, 96, 192]))
        assert score.winners(rng.uniform(0.6, link, 5), rng.uniform(5, 900, 5), link).any()
