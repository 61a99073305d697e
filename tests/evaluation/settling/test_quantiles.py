"""Every quantile has NumPy's convention and bits, and a metric says what its quantile is of."""

import math
import re

import numpy as np
import pytest

from lcca.evaluation.fabric.merit import pooled_quantiles
from lcca.evaluation.settling.quantiles import quantile, quantile_of_ranks, tail_quantile
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, OverFlows, statistic

SHARES = (0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 101, 1000])
def test_it_has_numpys_bits(count: int) -> None:
    values = np.random.default_rng(count).lognormal(size=count)
    for p in (0.0, *SHARES, 1.0):
        assert quantile(values, p) == np.quantile(values, p) == statistic(values, p)
    for p in SHARES:
        assert tail_quantile(np.array_split(values, 3), p).value == np.quantile(values, p)
        assert np.quantile(values, p) == quantile_of_ranks(count, p, np.sort(values).__getitem__)


def test_it_is_exact_where_it_is_a_value_and_between_its_neighbours_elsewhere() -> None:
    assert [quantile([40.0, 10.0, 30.0, 20.0, 50.0], p) for p in (0, 0.25, 0.5, 1)] == [10, 20, 30, 50]
    assert quantile([1.0, 2.0], 0.75) == 1.75


def test_of_nothing_and_of_unknown_values_it_is_unknown() -> None:
    assert math.isnan(quantile([], 0.5)) and math.isnan(quantile([1.0, math.nan], 0.1))
    assert math.isnan(statistic(np.array([]), 0.5)) and math.isnan(statistic(np.array([]), None))


def test_a_value_that_counts_several_times_is_so_many_values() -> None:
    rng = np.random.default_rng(5)
    units = [rng.lognormal(size=size) for size in (300, 1, 0, 700)]
    weights = np.array([[1, 1, 1, 1], [2, 0, 1, 3], [0, 5, 0, 0]])
    for row, found in zip(weights, pooled_quantiles(units, weights), strict=True):
        flows = np.concatenate([np.repeat(unit, times) for unit, times in zip(units, row, strict=True)])
        np.testing.assert_array_equal(found, np.quantile(flows, (0.5, 0.99)))


def test_metrics_that_are_quantiles_say_of_what_and_have_two_names_where_there_are_two() -> None:
    metrics = [*NETWORK_TRIALS.values(), *FABRIC_TRIALS.values()]
    assert all(bool(each.pool) == bool(re.search(r"_p\d", each.name)) for each in metrics)
    for each in metrics:
        of_flows = isinstance(each.compute, OverFlows) and each.compute.quantile is not None
        assert (each.pool == "flows") == of_flows
        assert (each.over_trials.name == f"mean_of_trials_{each.name}") == of_flows
        assert each.over_trials.pool == ("trials" if each.pool else "")
        assert each.over_trials.over_trials == each.over_trials
