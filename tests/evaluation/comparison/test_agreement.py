"""Agreement of two simulators, on tables whose difference is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lcca.evaluation.comparison.agreement import agreements, order_flips, paired
from lcca.evaluation.report.sections.agreement import draw_agreement
from lcca.evaluation.settling.intervals import UNFINISHED
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, shown


def table(offset, policies=("a", "b"), n=96, noise=0.0, seed=0):
    """Trials whose scores are offset by policy."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "policy": policy,
            "network": i,
            "seed": 1,
            "status": "ok",
            "score_bits": 3 + 0.1 * i + offset[policy] + noise * rng.normal(),
            "throughput_share": 2.0 * (1 + offset[policy]),
            "delay_us": 50.0,
            "starved": 0,
        }
        for policy in policies
        for i in range(n)
    ]
    return pd.DataFrame(rows)


def test_equal_tables_agree():
    zero = {"a": 0.0, "b": 0.1}
    rows = agreements(table(zero), table(zero), "dumbbell")
    assert {r.verdict for r in rows if r.metric == "score_bits"} == {"agree within 0.05 bits"}
    assert all(r.difference == 0 for r in rows)
    assert order_flips(table(zero), table(zero)) == []


@pytest.mark.parametrize(
    ("offset", "verdict"),
    [(0.02, "agree within 0.05 bits"), (0.2, "differ by more than 0.05 bits"), (0.05, "not settled")],
)
def test_a_known_bias_is_found(offset, verdict):
    first = table({"a": 0.0}, ("a",), noise=0.01)
    second = table({"a": offset}, ("a",), noise=0.01, seed=1)
    row = agreements(first, second, "line")[0]
    assert row.difference == pytest.approx(offset, abs=0.01)
    assert row.low < row.difference < row.high
    assert row.verdict == verdict
    assert row.topology == "line"


def test_the_unit_is_a_block():
    """What differs between the networks of a block, the same in all blocks, says nothing against the mean."""
    first, second = table({"a": 0.0}, ("a",)), table({"a": 0.0}, ("a",), noise=0.01)
    second["score_bits"] += np.where(second["network"] % 16 == 0, 0.48, 0)
    row = agreements(first, second, "dumbbell")[0]
    d = (second["score_bits"] - first["score_bits"]).to_numpy().reshape(6, 16).mean(axis=1)
    assert (row.n, row.blocks, row.verdict) == (96, 6, "agree within 0.05 bits")
    assert (row.low, row.high) == pytest.approx(stats.t.interval(0.95, 5, d.mean(), stats.sem(d)))
    assert row.low > 0.02
    few = agreements(first[:80], second[:80], "dumbbell")[0]
    assert (few.blocks, few.verdict) == (5, "not settled")


def test_ratios_are_told_in_per_cent():
    rows = agreements(table({"a": 0.0}, ("a",)), table({"a": 0.1}, ("a",)), "dumbbell")
    share = next(r for r in rows if r.metric == "throughput_share")
    assert share.difference == pytest.approx(100 * np.log(1.1))
    assert share.verdict == ""


def test_failed_trials_and_lonely_ones_do_not_count():
    first, second = table({"a": 0.0}, ("a",)), table({"a": 0.0}, ("a",)).iloc[:80].copy()
    second.loc[second.index[:5], "status"] = "failed"
    assert agreements(first, second, "dumbbell")[0].n == 75


def test_a_sender_starved_in_one_simulator_is_told_apart():
    first, second = table({"a": 0.0}, ("a",)), table({"a": 0.0}, ("a",))
    second.loc[3, ["score_bits", "starved"]] = [-12.0, 1]
    row = agreements(first, second, "dumbbell")[0]
    assert (row.starved, row.worst_network) == (1, 3)
    assert row.difference == pytest.approx(-(12 + 3.3) / 96)
    assert row.without_starved == pytest.approx(0, abs=1e-12)


def test_a_flip_of_the_order_is_told_with_its_certainty():
    first = table({"a": 0.0, "b": 0.1})
    (sure,) = order_flips(first, table({"a": 0.2, "b": 0.1}, noise=0.01))
    assert (sure.better_in_first, sure.better_in_second, sure.matters) == ("b", "a", True)
    (unsure,) = order_flips(first, table({"a": 0.15, "b": 0.1}, noise=0.5, seed=8))
    assert not unsure.matters


@pytest.mark.parametrize("bounds", [0, 1])
def test_bounds_have_no_order(bounds: int) -> None:
    """Of policy a two flows of 100 are unfinished in one of the simulators."""
    both = [table({"a": 0.0, "b": 0.1}), table({"a": 0.2, "b": 0.1}, noise=0.01)]
    both = [each.assign(score_of=100, score_unfinished=0) for each in both]
    assert len(order_flips(*both)) == 1
    both[bounds].loc[both[bounds]["policy"] == "a", "score_unfinished"] = 2
    assert order_flips(*both) == []


@pytest.mark.slow
def test_the_figure_has_a_row_per_topology():
    both = paired(table({"a": 0.0, "b": 0.1}), table({"a": 0.0, "b": 0.1}))
    figure = draw_agreement({"dumbbell": both, "line": both}, ("fast engine", "ns-3"))
    assert len(figure.axes) == 6


@pytest.mark.parametrize("unfinished", [0, 1, 30])
def test_means_of_bounds_do_not_agree(unfinished: int) -> None:
    """Of 100 flows a trial; the scores of both simulators are the same."""
    n = 20 * 16
    table = pd.DataFrame(
        {"policy": "p", "network": range(n), "seed": 1, "status": "ok", "starved": 0, "score_bits": np.sin(range(n))}
        | {each.name: 1.0 for each in shown(NETWORK_TRIALS, "compare") if each.name != "score_bits"}
        | {"score_of": 100, "score_unfinished": unfinished}
    )
    score = next(each for each in agreements(table, table, "dumbbell") if each.metric == "score_bits")
    assert score.verdict.startswith("agree") if unfinished <= 1 else score.verdict == UNFINISHED
