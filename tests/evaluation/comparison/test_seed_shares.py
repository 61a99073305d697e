"""Shares of networks over training seeds: by hand, and with the interval of signal sets."""

from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.comparison.network_shares import NetworkShares, network_shares, seed_shares
from lcca.evaluation.comparison.sets import SeedInterval

WAYS = {"+": 3.0, "-": -3.0, "0": 0.5}
"""Difference of B from A on a network, whose standard deviation over seeds is 1 for both."""


def section(names: dict[str, str] | None = None, **ways: str) -> list[NetworkShares]:
    """Return the comparisons with A of candidates that are better, worse or neither on networks, as in "++0-"."""
    rows = [
        {"policy": name, "network": i, "seed": seed, "score_bits": x, "throughput_share": x, "delay_us": 100 - x}
        for name, signs in {"A": "0" * 99, **ways}.items()
        for i, sign in enumerate(signs[: len(next(iter(ways.values())))])
        for seed, noise in enumerate((-1.0, 0.0, 1.0))
        for x in [noise + (WAYS[sign] if name != "A" else 0.0)]
    ]
    return network_shares(pd.DataFrame(rows), "A", list(ways), names=names)


def of(found: list[dict[str, Any]], b: str, metric: str = "score_bits", a: str = "A") -> dict[str, Any]:
    (row,) = [row for row in found if (row["A"], row["B"], row["metric"]) == (a, b, metric)]
    return row


def test_shares_of_training_seeds_by_hand() -> None:
    seeds = ["++0-", "+0--", "++++", "----", "+++-"]  # net 25, -25, 100, -100, 50 %
    told = of(seed_shares(chain(*(section(B=signs) for signs in seeds)), 0.05), "B")
    better, worse = [50, 25, 100, 0, 75], [25, 50, 0, 100, 25]
    assert told["training_seeds"] == 5
    for key, shares in (("better_percent", better), ("worse_percent", worse)):
        assert told[key] == pytest.approx({"mean": np.mean(shares), "sd": np.std(shares, ddof=1)})
    net = SeedInterval.of(np.subtract(better, worse), 0.05)
    assert net.low < -100 and net.high > 100 and told["alpha"] == 0.05
    assert told["net_percent"] == pytest.approx({"mean": 10, "low": -100, "high": 100}), "no share is beyond"


def test_the_interval_of_the_net_share_is_that_of_signal_sets() -> None:
    counts = (7, 8, 9, 6, 10)
    found = seed_shares(chain(*(section(B="+" * n + "0" * (16 - n)) for n in counts)), 0.05)
    told = of(found, "B")["net_percent"]
    net = SeedInterval.of([100 * n / 16 for n in counts], 0.05)
    assert 0 < net.low and net.high < 100
    assert told == pytest.approx({"mean": 50, "low": net.low, "high": net.high})


def test_less_delay_is_better_and_candidates_meet_each_other() -> None:
    found = seed_shares(section(B="++0-", C="0---") * 2, 0.05)
    assert of(found, "B", "delay_us")["better_percent"] == {"mean": 50, "sd": 0}
    assert of(found, "C", "delay_us")["worse_percent"] == {"mean": 75, "sd": 0}
    assert of(found, "B", a="C")["better_percent"]["mean"] == 75, (
        "by 2.5, 6 and 3.5; the last network is the same for both"
    )
    assert len(found) == 3 * 3


def test_a_pair_counts_the_training_seeds_that_have_it() -> None:
    luck = section(names={"A": "A", "other": "A"}, other="+000")
    found = seed_shares([*section(B="+++0"), *section(B="+00-"), *luck], 0.05)
    assert of(found, "B")["training_seeds"] == 2
    told = of(found, "A")
    assert told["better_percent"] == {"mean": 25, "sd": None} and told["net_percent"] is None
