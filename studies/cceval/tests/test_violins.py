"""Violins, and the figure of ten trials that mislead."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.report.figures.saving import save
from lcca.studies.cceval.estimators.estimate import EstimateConfig, Estimating
from lcca.studies.cceval.report.figures import draw_violins, trial_counts, violin_data
from studies.cceval import benchmark_ten_trials as ten_trials


def test_a_violin_is_the_first_trials() -> None:
    values = {"a": np.arange(50.0), "b": np.arange(5.0)}
    found = violin_data(values, [10, 50])
    assert [(v.policy, v.trials) for v in found] == [("a", 10), ("b", 5), ("a", 50), ("b", 5)]
    assert found[0].values.tolist() == list(range(10))
    low, high = stats.t.interval(0.95, 9, 4.5, stats.sem(np.arange(10.0)))
    assert (found[0].mean, found[0].low, found[0].high) == pytest.approx((4.5, low, high))
    assert math.isnan(violin_data({"a": [3.0]}, [1])[0].low)


@pytest.mark.parametrize(("trials", "counts"), [(0, [0]), (12, [12]), (20, [20]), (30, [20, 30]), (100, [20, 45, 100])])
def test_numbers_of_trials(trials: int, counts: list[int]) -> None:
    assert trial_counts(trials, 20) == counts


def test_many_trials_have_few_violins() -> None:
    assert trial_counts(20_000, 20) == [20, 200, 2000, 20_000]


def test_drawing_is_the_same_every_time(tmp_path: Path) -> None:
    values = np.random.default_rng(1).lognormal(0, 1, 200)
    for name in ("a", "b"):
        figure = draw_violins(violin_data({"p": values}, [20, 200]), "delay, µs", line=("estimate", 1.6), note="small")
        save(figure, tmp_path, name)
        (axes,) = figure.axes
        assert [label.get_text() for label in axes.get_xticklabels()] == ["p\n(20)", "p\n(200)"]
        assert len(axes.collections) == 2 and axes.get_xlabel() == "small"
    for kind in ("svg", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0, 2.0], [1.0, 2.0]])
def test_values_without_a_spread_are_a_mark(values: list[float]) -> None:
    (axes,) = draw_violins(violin_data({"p": values}, [10]), "delay, µs").axes
    assert len(axes.collections) == int(np.ptp(values) > 0)


def test_the_values_of_an_estimate() -> None:
    mean = Estimating(EstimateConfig(metric="delay_us", accuracy=1e-9))
    mean.feed([3.0, 5.0])
    assert mean.values.tolist() == [3, 5]
    tail = Estimating(EstimateConfig(metric="slowdown", quantile=0.5))
    tail.feed([[1, 2, 3], [], [5, 7]])
    assert tail.values.tolist() == [2, 6]


def test_the_most_misleading_seed_is_found() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(10, 3, (40, 10)), rng.normal(11, 3, (40, 10))
    paired = a + rng.normal(1, 0.1, (40, 10))
    found = ten_trials.search(a, b, paired)
    gaps = b.mean(axis=1) - a.mean(axis=1)
    assert (found.seeds, found.wrong, found.wrong_paired) == (40, (gaps < 0).sum(), 0)
    assert found.low < found.difference < found.high and found.difference == pytest.approx(gaps.mean())
    statistics = stats.ttest_ind(b, a, axis=1, equal_var=False)
    assert found.worst == np.argmin(statistics.statistic) and found.worst_difference == gaps[found.worst] < 0
    turned = ten_trials.search(b, a, a)
    assert (turned.worst, turned.wrong) == (found.worst, found.wrong)


@pytest.mark.slow
def test_the_script_labels_its_figure_as_searched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn: list[str] = []
    draw = ten_trials.draw_violins
    monkeypatch.setattr(ten_trials, "DURATION", 20_000.0)
    monkeypatch.setattr(ten_trials, "draw_violins", lambda *a, **k: drawn.append(k["note"]) or draw(*a, **k))
    for _ in range(2):
        assert ten_trials.main(["--seeds", "4", "--figure", str(tmp_path / "ten"), "--json"]) == 0
    first, again = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first == again and first["seeds"] == 4
    assert "searched for: of 4 seeds, seed" in drawn[0] and (tmp_path / "ten.png").stat().st_size > 10_000
