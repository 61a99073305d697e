"""What the figures show, without drawing; and that drawing is the same every time."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

from lcca.evaluation.comparison.groups import group_rows
from lcca.evaluation.report.figures.forest import draw_forest, forest_data, labels
from lcca.evaluation.report.figures.saving import inline_svg, save, save_as
from lcca.evaluation.report.figures.style import REPORT, Page, drawing, drawn_for, new_figure
from lcca.evaluation.report.sections.differences import settling_data
from lcca.evaluation.report.sections.trainings import learning_data, learning_means, tradeoff_data, tradeoff_mean
from lcca.evaluation.trials.layout import part_name
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import write_json, write_state
from lcca.evaluation.trials.tables import RunTables
from lcca.inputs.errors import InputError


@pytest.fixture(scope="module")
def run(build_run: Any) -> RunTables:
    return RunTables.load(build_run(seeds=3, count=120))


def test_tables(run: RunTables) -> None:
    assert run.groups == ["e2e", "link", "queue", "link+queue"]
    assert len(run.trials) == 12 * 120 and run.failed == 0
    assert list(run.trials["policy"][:3]) == ["e2e-1"] * 3  # sorted, whatever the parts
    assert len(run.comparisons) == 12


def test_differences_are_paired_and_averaged_per_network(run: RunTables) -> None:
    of_policies = {"level": "policy", "A": "e2e-1", "B": "link-1", "utility": "default"}
    found = run.differences(of_policies).set_index("network")["difference"]
    scores = run.trials.pivot(index="network", columns="policy", values="score_bits")
    pd.testing.assert_series_equal(found, (scores["link-1"] - scores["e2e-1"]).rename("difference"), check_names=False)
    by_set = run.differences({"level": "set", "A": "e2e", "B": "link", "utility": "default"})
    expected = np.concatenate([scores[f"link-{s}"] - scores[f"e2e-{s}"] for s in (1, 2, 3)])
    np.testing.assert_allclose(by_set["difference"], expected)


def test_failed_trials_are_left_out_and_counted(build_run: Any) -> None:
    folder = build_run(seeds=1, count=40)
    store, name = TrialStore(folder / "trials"), part_name("trainings-test", "default", 1)
    part = store.read(name)
    part.loc[:2, "status"] = "failed"
    store.add(name, part)
    run = RunTables.load(folder)
    assert run.failed == 3 and len(run.trained) == 4 * 40 - 3
    assert {row.networks for row in group_rows(run, "score_bits")} == {37, 40}


def test_not_a_run_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run here"):
        RunTables.load(tmp_path)
    write_state(tmp_path / "manifest.json", {"kind": "sweep", "name": "s", "state": "begun"})
    with pytest.raises(InputError, match=r"no summary\.json"):
        RunTables.load(tmp_path)
    write_json(tmp_path / "summary.json", {})
    (tmp_path / "summary.json").write_text("[]")
    with pytest.raises(InputError, match=r"summary\.json: damaged .*; delete it and resume"):
        RunTables.load(tmp_path)


def test_forest_puts_sets_first(run: RunTables) -> None:
    rows = forest_data(run.comparisons)
    assert [row["level"] for row in rows] == ["set"] * 3 + ["policy"] * 9
    assert rows[0]["label"] == "link against e2e"
    assert all(row["bits_per_doubling"] == pytest.approx(1) for row in rows)


def test_labels() -> None:
    def named(a: str, b: str, utility: str = "default") -> dict[str, str]:
        return {"A": a, "B": b, "utility": utility}

    assert labels([named("e2e", "link")]) == ["link against e2e"]
    assert labels([named("e2e", "link"), named("e2e", "link", "2t")])[1] == "link against e2e (2t)"
    assert labels([named("a" * 20, "b" * 20)]) == [f"{'b' * 20}\nagainst {'a' * 20}"]


def test_scores(run: RunTables) -> None:
    rows = {row.group: row for row in group_rows(run, "score_bits")}
    for name, row in rows.items():
        own = run.trials[run.trials["policy"].str.startswith(f"{name}-")]
        assert row.mean == pytest.approx(own["score_bits"].mean())
        assert len(row.policies) == 3 and row.low < row.mean < row.high


def test_scores_of_one_training_are_over_networks(build_run: Any) -> None:
    run = RunTables.load(build_run(seeds=1, count=50))
    row = group_rows(run, "score_bits")[0]
    values = run.trials.loc[run.trials["policy"] == "e2e-1", "score_bits"]
    low, high = stats.t.interval(0.95, 49, values.mean(), stats.sem(values))
    assert (row.low, row.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.slow
def test_what_was_laid_out_has_room_in_every_file(tmp_path: Path) -> None:
    """Numbers at ticks are as many in a file as they were when they got their room."""

    @drawing
    def draw(height: float) -> Figure:
        figure = new_figure(height)
        figure.subplots().set_ylim(0, 1)
        return figure

    with drawn_for(Page(6.6, 8)):
        for height in np.linspace(1, 3.5, 21):
            figure = draw(height)
            save_as(figure, tmp_path / "it.png", 100)
            assert figure.axes[0].get_tightbbox().x0 >= 0, height


@pytest.mark.slow
def test_labels_of_a_forest_do_not_touch() -> None:
    rows = [
        {"label": f"a-long-name.default.s{i}\nagainst e2e.default.s7", "level": level, "difference": 0.1, "low": 0.0}
        | {"high": 0.2, "margin": 0.04, "verdict": "better", "bits_per_doubling": 1.0, "paid": "slowdown"}
        for level in ("set", "policy")
        for i in range(2)
    ]
    for page in (Page(3.33, 7), Page(6.6, 8), REPORT):
        with drawn_for(page):
            figure = draw_forest(rows)
        for ax in figure.axes:
            upper, lower = (text.get_window_extent() for text in ax.get_yticklabels())
            assert lower.y1 < upper.y0, page


def test_tradeoff(run: RunTables) -> None:
    clouds = tradeoff_data(run)
    assert [cloud["group"].iloc[0] for cloud in clouds] == run.groups
    assert len(clouds[0]) == 3 * 120 and list(clouds[0]) == ["utility", "group", "training_seed", "delay", "throughput"]
    seeds = np.array([own["delay"].mean() for _, own in clouds[0].groupby("training_seed")])
    expected = stats.t.interval(0.95, len(seeds) - 1, seeds.mean(), stats.sem(seeds))
    assert tradeoff_mean(clouds[0], "delay") == pytest.approx((seeds.mean(), *expected))
    one = clouds[0][clouds[0]["training_seed"] == 1]
    assert tradeoff_mean(one, "delay")[2] - one["delay"].mean() == pytest.approx(
        stats.t.ppf(0.975, len(one) - 1) * stats.sem(one["delay"])
    )


def test_learning_curves_are_in_the_order_of_sets(run: RunTables) -> None:
    curves = learning_data(run)
    assert [curve["group"].iloc[0] for curve in curves[::3]] == run.groups
    assert [curve["training_seed"].iloc[0] for curve in curves[:3]] == [1, 2, 3]
    assert (np.diff(curves[0]["packets"]) > 0).all()


def test_learning_is_a_mean_over_seeds_with_its_interval() -> None:
    """A training has the score of its last step so far; the interval is Student's t with one degree of freedom."""
    of = {"utility": "u", "group": "a", "packets": [0.0, 10.0, 20.0]}
    curves = [pd.DataFrame(of | {"training_seed": seed, "score": [0.0, 1.0, 2.0 * seed]}) for seed in (1, 2)]
    (mean,) = learning_means(curves)
    at = mean.set_index("packets")
    assert at["score"].iloc[0] == 0 and at["score"].iloc[-1] == 3 and at["score"].between(0, 3).all()
    assert (mean[mean["packets"].between(10, 19.9)]["score"] == 1).all()
    assert at["high"].iloc[-1] - 3 == pytest.approx(12.706, rel=1e-3) == 3 - at["low"].iloc[-1]
    (alone,) = learning_means(curves[:1])
    assert alone["low"].isna().all() and alone["score"].iloc[-1] == 2


def test_settling_tracks_end_with_the_verdict(run: RunTables) -> None:
    tracks = settling_data(run.comparisons)
    assert len(tracks) == 9
    for track, record in zip(tracks, [c for c in run.comparisons if c["level"] == "policy"], strict=True):
        last = track.iloc[-1]
        assert (last["n"], last["verdict"], last["mean"]) == (record["n"], record["verdict"], record["difference"])


@pytest.mark.slow
def test_drawing_gives_the_same_bytes_and_refers_to_nothing(run: RunTables, tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        figure = draw_forest(forest_data(run.comparisons))
        save(figure, folder, "forest")
        svg = inline_svg(figure, "forest", "a label")
        written.append([(folder / f"forest.{kind}").read_bytes() for kind in ("png", "svg")] + [svg.encode()])
    assert written[0] == written[1]
    assert b"http" not in written[0][2] and b"DejaVu" not in written[0][2]
