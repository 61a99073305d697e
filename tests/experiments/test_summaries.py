"""What summaries say of trials: intervals of means of trials' own quantiles are in the order of the quantiles."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lcca.experiments.summaries import measured

NAMES = ("slowdown_p50", "slowdown_p95", "slowdown_p99", "slowdown_p999")


@given(st.lists(st.lists(st.floats(1, 1e6), min_size=4, max_size=4).map(sorted), min_size=1, max_size=9))
def test_ends_of_means_of_quantiles_are_in_order(trials: list[list[float]]) -> None:
    table = pd.DataFrame(trials, columns=NAMES).assign(policy="dctcp")
    (record,) = measured(table, ["dctcp"], "")
    found = [record[f"mean_of_trials_{name}"] for name in NAMES]
    assert [each["mean"] for each in found] == pytest.approx(list(np.mean(trials, axis=0)))
    for end in ("low", "high"):
        ends = [each[end] for each in found if each[end] is not None]
        assert ends == sorted(ends)


def test_what_is_known_less_well_takes_the_end_of_what_is_known_better() -> None:
    values = {"slowdown_p99": [2.0, 2.1, 2.2], "slowdown_p999": [2.0, 2.2, 9.0], "queue_p99_bytes": [1.0, 2.0, 9.0]}
    (record,) = measured(pd.DataFrame(values).assign(policy="dctcp"), ["dctcp"], "")
    reach = {name: stats.t.ppf(0.975, 2) * stats.sem(x) / np.mean(x) for name, x in values.items()}  # of the logarithm
    alone = {name: np.mean(x) * np.exp([-reach[name], reach[name]]) for name, x in values.items()}
    assert alone["slowdown_p999"][0] < alone["slowdown_p99"][0]
    assert record["mean_of_trials_slowdown_p99"]["low"] == pytest.approx(alone["slowdown_p99"][0])
    assert record["mean_of_trials_slowdown_p999"]["low"] == pytest.approx(alone["slowdown_p99"][0])
    assert record["mean_of_trials_slowdown_p999"]["high"] == pytest.approx(alone["slowdown_p999"][1])
    assert record["queue_p99_bytes"]["low"] == pytest.approx(alone["queue_p99_bytes"][0])
