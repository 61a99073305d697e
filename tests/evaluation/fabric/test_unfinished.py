"""Flows that do not finish: what is known of them, against true times cut off; no verdict where they are many."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcca.evaluation.comparison.compare import compare_policies
from lcca.evaluation.comparison.net_benefit import decision, no_choice_yet
from lcca.evaluation.comparison.ranking import rank
from lcca.evaluation.comparison.sets import compare_sets
from lcca.evaluation.fabric.merit import by_decade, packed, packed_counts, unpacked
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.fabric.summary import summary
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trials
from lcca.evaluation.settling.intervals import UNFINISHED
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.settling.unfinished import Unfinished
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.outcome import FlowTimes, mean_round_us
from lcca.evaluation.trials.ratio import Ratio, Slowdown, unfinished_of
from lcca.evaluation.trials.utilities import UTILITIES, fabric_utility
from lcca.experiments.recipes.compare import compare
from lcca.experiments.recipes.rank import rank as ranking
from lcca.experiments.testing.groups import Group
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.tuners.tuned import named_transport

from ...fixtures import RunCommand

SLOWDOWN = fabric_utility("slowdown")
assert isinstance(SLOWDOWN, Ratio)
INCAST = {
    "name": "incast",
    "topology": {"kind": "star", "hosts": 11},
    "workload": {"kind": "incast", "senders": 10, "bytes": 200_000, "receiver": 0, "period_us": 100_000},
    "duration_us": 10,
}
"""Ten flows that take 17 µs each alone, and 165 µs together."""


def scenario(**changes: Any) -> FabricScenario:
    return FabricScenario.model_validate(INCAST | changes)


def trials_of(where: FabricScenario, *names: str, seeds: tuple[int, ...] = (1, 2)) -> list[FabricTrial]:
    return run_fabric_trials(where, {name: engine_of(named_transport(name), where.settings()) for name in names}, seeds)


times = st.lists(st.tuples(st.floats(1, 100), st.floats(1, 50), st.floats(0, 200)), min_size=1, max_size=30)


@given(times)
def test_cut_off_flows_are_bounds_or_say_nothing(flows: list[tuple[float, float, float]]) -> None:
    """Each has an ideal time, a slowdown and a time after its start at which the trial ends."""
    ideal, slowdown, ends = np.array(flows).T
    true = ideal * slowdown
    cut = FlowTimes(np.ones(len(true)), np.where(true <= ends, true, np.nan), ideal, ends, np.zeros(len(true), int))
    silent = (true > ends) & (ends < ideal)
    assert np.array_equal(np.isnan(cut.slowdown), silent)
    assert (cut.slowdown[~silent] <= slowdown[~silent] * (1 + 1e-12)).all() and (cut.slowdown[~silent] >= 1).all()
    assert len(cut.telling.slowdown) == (~silent).sum()
    score = Slowdown("slowdown").score_flows(cut, 1)
    assert score.starved[0] == (true > ends).sum() and score.senders_counted[0] == len(true)
    if silent.all():
        assert math.isnan(score.score_bits[0])
    else:
        assert score.score_bits[0] >= -np.log2(slowdown[~silent]).mean() - 1e-9


def test_nothing_that_finishes_is_no_slowdown_of_one() -> None:
    trials = trials_of(scenario(drain_us=2), "dctcp", "hpcc")
    for row in summary(trials, SLOWDOWN):
        assert math.isnan(row["slowdown_mean"]["mean"]) and math.isnan(row["score_bits"]["mean"])
        assert row["flows_finished"] == 0 and row["unfinished"]["unfinished"] == row["unfinished"]["scored"] == 20
        assert [each["unfinished"] for each in row["by_size"]] == [20]
        assert math.isnan(row["difference_bits"]["mean"]) and math.isnan(row["merit"]["difference_bits"]["value"])
    assert all(len(part) == 0 for each in trials for part in by_decade(each))


@pytest.mark.parametrize("drain_us", [2, 30, 120])
def test_there_is_no_verdict_but_advice_that_helps(drain_us: float) -> None:
    found = compare("dctcp", "hpcc", scenario(drain_us=drain_us), trials=24).comparisons[0]
    assert found.void == UNFINISHED and not found.stated.settled
    content = found.to_json()
    assert content["verdict"] == content["adjusted_verdict"] == "not settled" and content["same"] == ""
    assert content["unfinished"]["too_many"] and content["likely_n"] is None
    assert content["unfinished"]["policies"]["dctcp"]["scored"] == 240
    advised = found.note.partition("raise drain_us by about ")[2].partition(" µs")[0]
    longer = scenario(drain_us=drain_us + float(advised.replace(",", "")))
    again = compare("dctcp", "hpcc", longer, trials=24).comparisons[0]
    assert not again.void.startswith(UNFINISHED) and all(each.unfinished == 0 for each in again.unfinished.values())


def test_a_run_ends_at_the_first_look_where_there_is_to_be_no_verdict() -> None:
    assert len(compare("dctcp", "hpcc", scenario(drain_us=30), trials=400).rows) <= 2 * 32


def test_rankings_recommend_nothing() -> None:
    content = ranking(["dctcp", "hpcc", "timely"], scenario(drain_us=30), trials=24).content
    assert all(each["best_rank"] is None for each in content["policies"]) and not content["settled"]
    assert "dctcp: 240 of 240 flows unfinished" in content["note"] and "raise drain_us" in content["note"]


def test_few_unfinished_flows_leave_a_verdict_and_the_key_moves_the_share() -> None:
    rng = np.random.default_rng(1)
    base = rng.standard_normal(160)
    scores = {"a": base, "b": base + 1 + 0.01 * rng.standard_normal(160)}
    rule = SettlingRule()

    def void(percent: float, **keys: float) -> str:
        unfinished = {"a": Unfinished(1000, 0, 0.0, "flows", 0.0), "b": Unfinished(1000, 1, 50.0, "flows", percent)}
        rules = rule.model_copy(update=keys)
        both = compare_policies("a", "b", *scores.values(), utility=SLOWDOWN, rule=rules, unfinished=unfinished)
        ranks = rank(scores, utility=SLOWDOWN, rule=rules, unfinished=unfinished)
        assert ranks.comparisons[0].void == both.void
        assert ranks.advice("3 %").startswith("no recommendation" if both.void else "take b")
        return both.void

    assert [void(each) for each in (0, 0.9, 1.0, 1.1, 50)] == ["", "", "", UNFINISHED, UNFINISHED]
    assert void(1.1, unfinished_percent=2) == "" and void(0.1, unfinished_percent=0) == UNFINISHED
    assert "unfinished_percent" not in rule.model_dump()  # hashes of configurations stay


def test_a_quantile_is_known_if_fewer_are_unfinished_than_lie_beyond_it() -> None:
    rng = np.random.default_rng(3)
    base = rng.standard_normal(160)
    rows = pd.DataFrame({"policy": ["a", "b"], "score_of": 1000, "score_unfinished": 5, "score_lacking_us": 9.0})
    for name, void in (("slowdown-p99", ""), ("slowdown-p999", UNFINISHED), ("slowdown", "")):
        unfinished = unfinished_of(rows, UTILITIES[name])
        keys: dict[str, Any] = {"utility": UTILITIES[name], "rule": SettlingRule(), "unfinished": unfinished}
        assert compare_policies("a", "b", base, base + rng.standard_normal(160), **keys).void == void


def test_a_tuning_of_what_does_not_finish_recommends_nothing(lcca: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "incast.yaml").write_text(json.dumps(INCAST | {"drain_us": 30}))
    content = {
        "name": "tuned",
        "fabric": "incast.yaml",
        "utility": "slowdown",
        "tuner": {"policy": "dctcp@step:k_bdps=0.3", "trials": 2, "networks": 24},
        "test": {"pairs": 24, "at_least": 24, "block": 24},
    }
    (tmp_path / "tuned.yaml").write_text(json.dumps(content))
    answer = lcca("tune", tmp_path / "tuned.yaml", "--out", tmp_path / "run")
    assert answer.status == 0, answer.err
    assert "to paste" not in answer.out and "raise drain_us" in answer.out
    assert lcca("report", tmp_path / "run").status == 0 and lcca(
        "plot", tmp_path / "run", "--figure", "all"
    ).status in (0, 2)


def test_plots_and_pages_of_what_does_not_finish(lcca: RunCommand, tmp_path: Path) -> None:
    place, run = tmp_path / "incast.yaml", tmp_path / "run"
    for drain_us in (2, 100):
        place.write_text(json.dumps(INCAST | {"drain_us": drain_us}))
        where = run / str(drain_us)
        assert lcca("evaluate", "dctcp", "hpcc", "--on", place, "--trials", 3, "--out", where).status == 0
        assert "Traceback" not in lcca("plot", where, "--figure", "all", "--out", tmp_path).err
        assert lcca("report", where).status == 0
    assert "≥ " in (where / "report.html").read_text()


def test_headers_are_not_decided_and_none_is_recommended() -> None:
    rng = np.random.default_rng(2)
    without = dict(enumerate(rng.standard_normal(8) * 0.001))
    with_it = {seed: score + 0.5 + 0.001 * rng.standard_normal() for seed, score in without.items()}
    unfinished = {name: Unfinished(1000, 20, 50.0, "flows", 2.0) for name in ("none", "header+bytes")}
    keys: dict[str, Any] = {"utility": SLOWDOWN, "rule": SettlingRule()}
    plain = compare_sets("none", "header+bytes", without, with_it, **keys)
    void = compare_sets("none", "header+bytes", without, with_it, **keys, unfinished=unfinished)
    assert decision(plain, 0.03) == "pays" and decision(void, 0.03) == "open" and void.ended
    assert no_choice_yet([plain.to_json()]) == "" and UNFINISHED in no_choice_yet([void.to_json()])


def test_rounds_that_are_cut_off() -> None:
    """Rounds take about as long each; the last one is cut off, and counts where it took longer than alone at least."""
    keys = {"kind": "all-to-all", "workers": 4, "bytes": 100_000, "off_us": 1, "rounds": 3}
    whole = trials_of(scenario(workload=keys, duration_us=None), "dctcp", seeds=(1,))[0]
    took, end_us = whole.rounds["took_us"].to_numpy(), whole.record["end_ns"] / 1000
    utility = UTILITIES["rounds"]
    assert isinstance(utility, Ratio)
    assert utility.unfinished(whole) == (3, 0, 0.0)
    for cut_us in (end_us - took[-1] + 2, end_us - 0.2 * took[-1]):
        cut = trials_of(scenario(workload=keys, duration_us=cut_us, drain_us=0), "dctcp", seeds=(1,))[0]
        rounds, open_, lacking = utility.unfinished(cut)
        assert (rounds, open_) == (3, 1) and lacking > 0
        last = cut.rounds["took_us"].to_numpy()[-1]
        assert math.isnan(last) or last <= took[-1] * 1.000001
        assert mean_round_us(cut) <= took.mean() * 1.000001 and mean_round_us(cut) > 0.8 * took[:2].mean()


def test_each_utility_counts_its_own_flows() -> None:
    parts = [
        INCAST["workload"],
        {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.05, "load_of": "host-links"},
    ]
    where = scenario(workload={"kind": "mix", "parts": parts}, duration_us=100, drain_us=40)
    trial = trials_of(where, "dctcp", seeds=(3,))[0]
    size, finished = trial.times.size_bytes, trial.times.finished
    for name in ("slowdown", "slowdown-short", "slowdown-medium", "slowdown-long-p99", "fct-short"):
        utility = UTILITIES[name]
        assert isinstance(utility, Ratio)
        counts = (size >= utility.from_bytes) & (size < utility.below_bytes)
        scored, unfinished, _ = utility.unfinished(trial)
        assert (scored, unfinished) == (counts.sum(), (counts & ~finished).sum())
    assert (~finished).any()
    assert UTILITIES["queue"].unfinished(trial) == (0, 0, 0.0)  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [3_000_000, 9_000_000])
def test_a_decade_of_long_flows_that_do_not_finish_voids_the_figure_of_merit(size: int) -> None:
    """Two flows of 1,000 are long; they have more time than they take alone, or less."""
    long = {"kind": "incast", "senders": 2, "bytes": size, "receiver": 0, "period_us": 1e5}
    short = {"kind": "incast", "senders": 10, "bytes": 2000, "receiver": 1, "period_us": 4}
    where = scenario(workload={"kind": "mix", "parts": [long, short]}, duration_us=400, drain_us=20)
    trials = trials_of(where, "dctcp", "hpcc", seeds=(1, 2, 3))
    for each in trials:
        assert packed_counts(packed(each)).tolist() == [[1000, 0, 0, 2], [0, 0, 0, 2]]
        for kept, own in zip(unpacked([packed(each)]), by_decade(each), strict=True):
            np.testing.assert_allclose(kept, np.sort(own), rtol=1e-3)
    for row in summary(trials, SLOWDOWN):
        assert [each["unfinished"] for each in row["by_size"]] == [0, 6] and row["unfinished"]["percent"] < 1
        assert math.isnan(row["merit"]["difference_bits"]["value"]) and math.isfinite(row["difference_bits"]["mean"])
    space = FabricTrials(FabricSpace(fabric=where), 1, SLOWDOWN, keep_flows=True)
    learner = SimpleNamespace(id="dctcp", training_seed=1, signals=SimpleNamespace(name="e2e"))
    trained: Any = SimpleNamespace(learner=learner, endings=("",), by_rules=())
    rows = space.rows({"dctcp": named_transport("dctcp")}, Block(0, 0, 2))
    group = Group(SLOWDOWN, "e2e", SettlingRule(), 1, [trained], {}, rows)
    merit, below_100_kb = (group.unfinished_in(measure)["e2e"] for measure in ("merit", "short_p99"))
    assert (merit.percent, merit.scored, below_100_kb.percent, below_100_kb.scored) == (100, 4, 0, 2000)


def test_shares_are_of_all_trials_of_a_contender() -> None:
    rows = FabricTrials(FabricSpace(fabric=scenario(drain_us=120)), 1, SLOWDOWN).rows(
        {"dctcp": named_transport("dctcp")}, Block(0, 0, 4)
    )
    found = unfinished_of(rows, SLOWDOWN)["dctcp"]
    assert found.scored == 40 and found.unfinished == rows["score_unfinished"].sum() > 0
    assert found.percent == pytest.approx(100 * found.unfinished / 40)
    rows = pd.DataFrame({"policy": ["a", "a"], "score_of": [10, 9990], "score_unfinished": [10, 0]})
    small = unfinished_of(rows.assign(score_lacking_us=[math.nan, 0.0]), SLOWDOWN)["a"]
    assert small.percent == 50 and math.isnan(small.lacking_us)  # both trials weigh the same in a mean score
    assert unfinished_of(pd.DataFrame({"policy": ["a"], "score_bits": [1.0]}), SLOWDOWN) == {}


@pytest.mark.parametrize(("drain_us", "bounds"), [(100, True), (2, False)])
def test_what_flows_are_left_out_of_is_no_bound(
    drain_us: float, bounds: bool, lcca: RunCommand, tmp_path: Path
) -> None:
    """Flows of 2 kB take 1 µs alone, those of 200 kB 17 µs: the mean of those that tell may be above that of all."""
    parts = [INCAST["workload"], INCAST["workload"] | {"bytes": 2000, "receiver": 1}]  # type: ignore[operator]
    where = INCAST | {"workload": {"kind": "mix", "parts": parts}, "drain_us": drain_us}
    (tmp_path / "mix.yaml").write_text(json.dumps(where))
    command = ("evaluate", "dctcp", "--on", tmp_path / "mix.yaml", "--trials", 3)
    (row,) = lcca(*command, "--json").json()["policies"]
    assert row["flows_finished"] < row["flows"] and (row["silent"] == 0) == bounds
    answer = lcca(*command, "--tables", "--out", tmp_path / "run").out
    assert ("≥ " in answer, "≤ " in answer) == (bounds, bounds)
    assert (f"dctcp: {row['silent']} flows; no bounds there" in answer.replace("\n", " ")) != bounds
    assert lcca("report", tmp_path / "run").status == 0
    assert ("≥ " in (tmp_path / "run" / "report.html").read_text()) == bounds
