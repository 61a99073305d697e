"""Shares of networks over training seeds: by hand, and with the interval of signal sets."""

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.comparison.per_network import NetworkSignificance, network_significance
from lcca.evaluation.comparison.seed_shares import SeedShares, seed_shares
from lcca.evaluation.comparison.sets import SeedInterval

WAYS = {"+": 3.0, "-": -3.0, "0": 0.5}
"""Difference of B from A on a network, whose standard deviation over seeds is 1 for both."""


def section(**ways: str) -> NetworkSignificance:
    """Return the comparisons with A of candidates that are better, worse or neither on networks, as in "++0-"."""
    rows = [
        {"policy": name, "network": i, "seed": seed, "score_bits": x, "throughput_share": x, "delay_us": 100 - x}
        for name, signs in {"A": "0" * 99, **ways}.items()
        for i, sign in enumerate(signs[: len(next(iter(ways.values())))])
        for seed, noise in enumerate((-1.0, 0.0, 1.0))
        for x in [noise + (WAYS[sign] if name != "A" else 0.0)]
    ]
    return network_significance(pd.DataFrame(rows), pd.DataFrame(), "A", list(ways))


def of(found: list[SeedShares], b: str, metric: str = "score_bits", a: str = "A") -> SeedShares:
    (row,) = [row for row in found if (row.A, row.B, row.metric) == (a, b, metric)]
    return row


def test_shares_of_training_seeds_by_hand() -> None:
    seeds = ["++0-", "+0--", "++++", "----", "+++-"]
    row = of(seed_shares([section(B=signs) for signs in seeds], 0.05), "B")
    better, worse = [50, 25, 100, 0, 75], [25, 50, 0, 100, 25]
    assert row.better == SeedInterval.of(better, 0.05) and row.worse == SeedInterval.of(worse, 0.05)
    told = row.to_json()
    assert told["training_seeds"] == 5 and told["better_percent"]["mean"] == 50
    assert told["better_percent"]["sd"] == pytest.approx(np.std(better, ddof=1))
    assert (told["better_percent"]["low"], told["better_percent"]["high"]) == (0, 100), "no share is beyond"
    assert told["worse_percent"]["low"] is None, (
        "as for signal sets: with fewer than five different values, from ten on"
    )


def test_an_interval_of_shares_that_differ_little() -> None:
    counts = (7, 8, 9, 6, 10)
    found = of(seed_shares([section(B="+" * n + "0" * (16 - n)) for n in counts], 0.05), "B").to_json()
    expected = SeedInterval.of([100 * n / 16 for n in counts], 0.05)
    assert found["better_percent"]["mean"] == 50
    assert [found["better_percent"][end] for end in ("low", "high")] == pytest.approx([expected.low, expected.high])
    assert 0 < expected.low < 10 and 90 < expected.high < 100


def test_less_delay_is_better_and_candidates_meet_each_other() -> None:
    found = seed_shares([section(B="++0-", C="0---")] * 2, 0.05)
    assert of(found, "B", "delay_us").better.mean == 50 and of(found, "C", "delay_us").worse.mean == 75
    assert of(found, "B", a="C").better.mean == 75, "by 2.5, 6 and 3.5; the last network is the same for both"
    assert len(found) == 3 * 3


def test_a_pair_counts_the_training_seeds_that_have_it() -> None:
    found = seed_shares([section(B="+++0"), section(B="+00-"), section(other="0000")], 0.05)
    assert (of(found, "B").better.n, of(found, "other").better.n) == (2, 1)
    told = of(found, "other").to_json()["better_percent"]
    assert told == {"mean": 0, "sd": None, "low": None, "high": None}
