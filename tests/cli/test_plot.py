"""`lcca plot`: files for papers, from each kind of run that has figures."""

from pathlib import Path

import pandas as pd
import pytest

from lcca.api import load_run
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import write_json, write_state

from ..fixtures import RunCommand

SPACE = "{link_rate: 1, rtt: 9, senders: 2, buffer: 9, mean_on: 99, mean_off: 9, loss: 0, duration: 900}"
ESTIMATE = f"name: est\npolicy: aimd\nnetworks: {SPACE}\nestimate: {{metric: score_bits, accuracy: 1}}\n"


@pytest.mark.slow
def test_a_figure_of_a_campaign_and_its_data(lcca: RunCommand, finished: Path, tmp_path: Path) -> None:
    answer = lcca("plot", finished, "--figure", "forest", "--width", "85mm", "--out", tmp_path / "new", "--json")
    assert answer.json()["files"] == [str(tmp_path / "new" / f"forest.{ending}") for ending in ("pdf", "csv")]
    assert (tmp_path / "new" / "forest.pdf").read_bytes().startswith(b"%PDF")
    assert pd.read_csv(tmp_path / "new" / "forest.csv")["verdict"].tolist() == ["not settled"] * 2


def test_what_a_run_has_not_is_named_with_what_it_has(lcca: RunCommand, finished: Path, tmp_path: Path) -> None:
    answer = lcca("plot", finished, "--figure", "forrest")
    assert answer.status == 2 and "no figure forrest (did you mean 'forest'?); a run may have pareto" in answer.err
    assert "no figure pareto: the run lacks what it shows" in lcca("plot", finished, "--figure", "pareto").err
    assert "no run here" in lcca("plot", tmp_path, "--figure", "list").err


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "figure"), [("estimate", "convergence"), ("rank", "ranking")])
def test_other_runs_have_figures(lcca: RunCommand, tmp_path: Path, kind: str, figure: str) -> None:
    if kind == "estimate":
        (tmp_path / "estimate.yaml").write_text(ESTIMATE)
        assert lcca("estimate", tmp_path / "estimate.yaml", "--out", tmp_path / "run").status == 0
    else:
        (tmp_path / "space.yaml").write_text(SPACE)
        few = ("--on", tmp_path / "space.yaml", "--trials", 96, "--out", tmp_path / "run")
        assert lcca("rank", "aimd", "fixed-window:9", *few).status == 0
    assert figure in lcca("plot", tmp_path / "run", "--figure", "list", "--json").json()["figures"]
    assert lcca("plot", tmp_path / "run", "--figure", "all", "--format", "svg", "--out", tmp_path).status == 0
    assert (tmp_path / f"{figure}.svg").read_text().count("<svg") == 1
    assert len(pd.read_csv(tmp_path / f"{figure}.csv")) == {"estimate": 1, "rank": 2}[kind]


@pytest.mark.slow
def test_both_simulators_side_by_side(lcca: RunCommand, finished: Path, tmp_path: Path) -> None:
    """The figure of `agree`, from a run made up of a campaign's trials: ns-3 need not be there."""
    rows = load_run(finished).trials.query("phase == 'test'")
    both = pd.concat([rows.assign(simulator=name) for name in ("engine", "ns-3")], ignore_index=True)
    TrialStore(tmp_path / "trials").add("agree,000000", both)
    told = {"format": 2, "simulator": "ns-3", "topology": "dumbbell", "agreement": [], "order_flips": []}
    write_json(tmp_path / "summary.json", told)
    write_state(tmp_path / "manifest.json", {"kind": "agree", "name": "a", "state": "complete", "version": "1"})
    assert lcca("plot", tmp_path, "--figure", "agreement", "--out", tmp_path).status == 0
    shown = pd.read_csv(tmp_path / "agreement.csv")
    assert len(shown) == len(rows) and (shown["score_bits_1"] == shown["score_bits_2"]).all()
