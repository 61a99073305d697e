"""How many trials an estimate still takes."""

import numpy as np

from lcca.experiments.runs.remaining import More
from lcca.studies.cceval.accuracy import more_trials
from lcca.studies.cceval.estimators.estimate import EstimateConfig, Estimating


def test_trials_to_an_accuracy() -> None:
    values = np.random.default_rng(2).lognormal(0, 0.5, 100)
    going = Estimating(EstimateConfig(metric="delay_us", accuracy_percent=1))
    assert more_trials(going) is None
    going.feed(values)
    look, more = going.looks[-1], more_trials(going)
    assert more == More(look.forecast_low - look.n, look.forecast_high - look.n, "trials") and more.low > 1000
    bounded = Estimating(EstimateConfig(metric="delay_us", accuracy_percent=1, ceiling=150))
    bounded.feed(values)
    assert more_trials(bounded) == More(50, 50, "trials")
    rough = Estimating(EstimateConfig(metric="delay_us", accuracy_percent=90))
    rough.feed(values)
    assert more_trials(rough) == More(0, 0, "trials")
