"""Fairness by signal set: by hand, paired, and told in words."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lcca.evaluation.comparison.groups import GroupRow, group_rows
from lcca.evaluation.report.sections.groups import draw_groups, fairer, sentence
from lcca.evaluation.trials.tables import RunTables

SHIFT = {"e2e": 0.0, "link": -0.02, "queue": 0.0, "link+queue": 0.03}


def unequal(folder: Path) -> RunTables:
    """Give a run's trials a fairness that differs by signal set, and none to networks with one sender."""
    tables = RunTables.load(folder)
    rng = np.random.default_rng(5)
    senders = tables.trained_networks.set_index("network")["senders"]
    trials = tables.trained
    level = pd.Series(rng.uniform(0.08, 0.12, len(senders)), index=senders.index)
    shift = trials["policy"].map({policy["id"]: SHIFT[policy["signal_set"]] for policy in tables.policies})
    noise = rng.normal(0, 0.002, len(trials))
    trials["fairness"] = np.where(
        trials["network"].map(senders) > 1, trials["network"].map(level) + shift + noise, math.nan
    )
    return tables


@pytest.mark.parametrize("seeds", [1, 3])
def test_means_intervals_and_paired_differences(build_run: Any, seeds: int) -> None:
    tables = unequal(build_run(seeds=seeds, count=80))
    rows = {row.group: row for row in group_rows(tables, "fairness")}
    assert list(rows) == ["e2e", "link", "queue", "link+queue"]
    wide = tables.trained.assign(at=tables.trained["network"] % 1000).pivot(index="at", columns="policy")["fairness"]
    wide = wide.dropna()
    own = wide[[f"link-{k + 1}" for k in range(seeds)]].to_numpy().T
    base = wide[[f"e2e-{k + 1}" for k in range(seeds)]].to_numpy().T
    link = rows["link"]
    assert link.networks == seeds * len(wide) < seeds * 80 and link.mean == pytest.approx(own.mean())
    assert link.policies == pytest.approx(tuple(own.mean(axis=1)))
    assert link.difference is not None and link.difference[0] == pytest.approx((own - base).mean())
    if seeds == 1:
        ends = stats.t.interval(0.95, len(wide) - 1, own[0].mean(), stats.sem(own[0]))
        shared = stats.ttest_rel(own[0], base[0]).confidence_interval(1 - 0.05 / 3)
        assert link.difference[1:] == pytest.approx((shared.low, shared.high))
    else:
        means = own.mean(axis=1)
        ends = stats.t.interval(0.95, seeds - 1, means.mean(), stats.sem(means))
        shared = stats.ttest_rel(means, base.mean(axis=1)).confidence_interval(1 - 0.05 / 3)
        assert link.difference[1:] == pytest.approx((shared.low, shared.high))
    assert (link.low, link.high) == pytest.approx(ends)
    assert rows["e2e"].difference is None and fairer(rows["e2e"]) == ""
    assert tuple(fairer(rows[name]) for name in ("link", "queue", "link+queue")) == (
        "fairer",
        "not settled",
        "less fair",
    )
    told = sentence(list(rows.values()))
    assert told == "Against e2e: link is fairer; link+queue is less fair; queue is not settled."


def test_no_competition_no_fairness(build_run: Any) -> None:
    tables = RunTables.load(build_run(seeds=1, count=40))
    tables.trained["fairness"] = math.nan
    assert group_rows(tables, "fairness") == []
    assert fairer(group_rows(RunTables.load(build_run(seeds=1, count=40)), "fairness")[1]) == "not settled"  # all 0.04


def test_many_groups_are_counted() -> None:
    rows = [GroupRow("u", "base", 0.1, 0.09, 0.11, (0.1,), 9)]
    rows += [GroupRow("u", f"set{i}", 0.1, 0.09, 0.11, (0.1,), 9, (-1.0, -2.0, -0.5)) for i in range(9)]
    assert sentence(rows) == "Against base: 9 of 9 fairer."
    assert len(draw_groups(rows, "unfairness", 2.9).axes) == 1
