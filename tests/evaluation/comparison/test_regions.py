"""Regions of the network space: cuts by hand, planted effects, and no effect."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.comparison.regions import inside, regions_of
from lcca.evaluation.settling.false_discovery import controlled_verdicts, sequential

MARGIN = math.log2(1.03)


def networks(senders: list[int], **others: Any) -> pd.DataFrame:
    columns = {"link_rate": 2.0, "mean_on": 1000.0, "switched": "time"} | others
    return pd.DataFrame({"network": range(len(senders)), "senders": senders, **columns})


def test_cuts_by_hand() -> None:
    table = networks([1, 2, 3, 4, 16], mean_on=[1000.0, 2000, 3000, 4000, 12500])
    found = {region.name: region for region in regions_of(table)}
    assert found["few senders"].bound == "≤ 3" and found["few senders"].of(table) == {0, 1, 2}
    assert found["many senders"].bound == "> 3" and found["many senders"].of(table) == {3, 4}
    assert found["long on-time"].bound == "> 3,000 µs"
    assert found["low load"].bound == "≤ 1.5 per packet/µs" and found["low load"].of(table) == {0, 1, 2}


def test_ties_and_what_does_not_vary() -> None:
    table = networks([1, 5, 5, 5], mean_on=[10.0, 20, 30, 40], switched="bytes")
    found = {region.name: region for region in regions_of(table)}
    assert found["few senders"].of(table) == {0} and found["many senders"].of(table) == {1, 2, 3}
    assert found["short on-time"].bound == "≤ 20 packets"
    assert regions_of(networks([3, 3, 3])) == [] and regions_of(pd.DataFrame()) == []


def drawn(rng: np.random.Generator, count: int) -> pd.DataFrame:
    return networks(
        rng.integers(1, 17, count).tolist(),
        link_rate=rng.choice([2.0, 3.0, 4.0], count),
        mean_on=rng.uniform(1000, 10000, count),
    )


def test_a_planted_region_is_found() -> None:
    rng = np.random.default_rng(3)
    table = drawn(rng, 400)
    regions = {region.name: region for region in regions_of(table)}
    few = (table["senders"] <= regions["few senders"].cut).to_numpy()
    gains = {"link": rng.normal(np.where(few, 0.15, 0.0), 0.1), "queue": rng.normal(0, 0.1, 400)}
    found = {}
    for name, gain in gains.items():
        differences = pd.DataFrame({"network": table["network"], "difference": gain})
        found |= {(name, r.name): inside(differences, r.of(table), MARGIN, 16) for r in regions.values()}
    verdicts = dict(zip(found, controlled_verdicts([each.evidence for each in found.values()]), strict=True))
    assert len(found) == 12
    assert verdicts["link", "few senders"].name == "better" and verdicts["link", "many senders"].name == "equivalent"
    assert {each.name for (name, _), each in verdicts.items() if name == "queue"} == {"equivalent"}
    blocks = pd.Series(gains["link"][few]).groupby(table["network"].to_numpy()[few] // 16).mean()
    assert found["link", "few senders"].mean == pytest.approx(blocks.mean())
    assert found["link", "few senders"].n == len(blocks) == 25


@pytest.mark.slow
def test_no_effect_gives_few_verdicts_even_when_stopped_at_the_worst_time() -> None:
    rng = np.random.default_rng(4)
    runs, false = 300, 0
    table = drawn(rng, 300)
    masks = [table["network"].isin(region.of(table)).to_numpy() for region in regions_of(table)]
    for _ in range(runs):
        streams = rng.normal(0, 0.3, (2, 300))
        seen = False
        for n in (60, 120, 300):
            evidence = [sequential(d[:n][mask[:n]], MARGIN).evidence for d in streams for mask in masks]
            seen = seen or any(verdict.direction != "0" for verdict in controlled_verdicts(evidence))
        false += seen
    assert false / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
