"""Phases of a trial against what a queue without waiting (M/G/∞) must show."""

import numpy as np
import pytest

from lcca.studies.cceval.estimators.phases import FlowSpans, phases, together, warm_up_us

RATE, HOLD = 2.0, 50.0  # flows per µs; every flow lasts 50 µs: the number active rises in a line for 50 µs, then stays


def spans(duration: float, trials: int = 40, seed: int = 1) -> FlowSpans:
    rng = np.random.default_rng(seed)
    starts = [np.sort(rng.uniform(0, duration, rng.poisson(RATE * duration))) for _ in range(trials)]
    return together([(1, each, each + HOLD) for each in starts])


def test_the_warm_up_of_a_queue_without_waiting() -> None:
    assert warm_up_us(spans(1000.0), 1000.0) == pytest.approx(0.9 * HOLD, abs=3)


def test_the_shares_of_flows() -> None:
    found = phases({each: spans(each, seed=int(each)) for each in (20.0, 100.0, 1000.0)})
    for duration, row in zip((20.0, 100.0, 1000.0), found, strict=True):
        early, late = min(0.9 * HOLD, duration) / duration, max(min(HOLD, duration - 0.9 * HOLD), 0) / duration
        assert row.warm_up == pytest.approx(early, abs=0.03) and row.cool_down == pytest.approx(late, abs=0.03)
        assert row.warm_up + row.stable + row.cool_down == pytest.approx(1)
    assert found[0].stable == 0 and found[2].stable > 0.9


def test_no_durations() -> None:
    with pytest.raises(ValueError, match="at least one"):
        phases({})
