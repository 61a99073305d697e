"""Several metrics from the same trials: against each alone, and against what is computed by hand."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.trials.loaded_run import load_run
from lcca.experiments.runs.grid import read_grid
from lcca.inputs.errors import InputError
from lcca.studies.cceval.config import EstimationConfig
from tests.fixtures import RunCommand

from .cases import METRICS, SMALL

STUDY = Path(__file__).parents[1]
CCEVAL = STUDY / "configs"
SHIPPED = ("fat-tree", "leaf-spine", "dumbbell")

CONFIG = """\
name: small
seed: 4
policy: dctcp
fabric: scenario.yaml
estimate: metrics.yaml
"""
SCENARIO = """\
name: small
topology: {kind: star, hosts: 6}
workload: {kind: poisson, sizes: fb-hadoop, load: 0.5, load_of: host-links}
duration_us: 60
"""


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures out: they take most of the time of a small run, and one test looks at them."""
    monkeypatch.setattr("lcca.studies.cceval.recipe._draw", lambda run, going: None)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    for name, text in (("scenario", SCENARIO), ("metrics", METRICS), ("config", CONFIG)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path / "config.yaml"


@pytest.mark.slow
def test_each_is_what_its_trials_say(lcca: RunCommand, config: Path) -> None:
    run = config.parent / "run"
    found = lcca("estimate", config, "--out", run, "--json").json()
    flows = load_run(run).flows
    medians = flows[flows.size_bytes < 1e4].groupby("network").fct_us.median()
    first, second, third = found["estimates"]
    assert found["trials"] == flows.network.nunique() and {row["trials"] for row in found["estimates"]} <= {
        found["trials"]
    }
    half = stats.t.ppf(0.975, len(medians) - 1) * stats.sem(medians)
    assert [first[key] for key in ("estimate", "low", "high")] == pytest.approx(
        [medians.mean(), medians.mean() - half, medians.mean() + half], rel=1e-12
    )
    assert second["estimate"] == pytest.approx(np.quantile(flows[flows.size_bytes >= 1e4].slowdown, 0.9), rel=1e-12)
    assert third["estimate"] == pytest.approx(flows.groupby("network").slowdown.mean().mean(), rel=1e-12)
    kept = json.loads((run / "summary.json").read_text())["estimates"][0]
    spreads = medians.expanding()
    halves = stats.t.ppf(0.975, np.arange(len(medians))) * spreads.sem()
    accurate = np.flatnonzero((halves <= 0.08 * spreads.mean()).to_numpy() & (np.arange(len(medians)) >= 19))
    assert kept["accurate_first"]["n"] == accurate[0] + 1
    told = {row["percent"]: row for row in kept["by_accuracy"]}
    twenty = medians.iloc[:20]
    assert told[5]["forecast"] == pytest.approx((1.959964 * twenty.std() / (0.05 * twenty.mean())) ** 2, rel=1e-6)
    assert {"convergence.png", "accuracy.png", "spread.png"} <= {f.name for f in (run / "figures").iterdir()}


@pytest.mark.usefixtures("undrawn")
def test_one_alone_ends_as_its_first_accurate_look(lcca: RunCommand, config: Path) -> None:
    together = lcca("estimate", config, "--out", config.parent / "run", "--json").json()["estimates"][0]
    row = f"metric: fct_us, quantile: 0.5, flows: {SMALL}, target: mean-of-trials"
    asked = f"estimate={{{row}, accuracy_percent: 8, every: 1}}"
    alone = lcca("estimate", config, "--out", config.parent / "one", "--set", asked, "--json").json()["estimates"][0]
    first = together["accurate_first"]
    assert [alone[key] for key in ("trials", "estimate", "low", "high")] == [
        first[key] for key in ("n", "estimate", "low", "high")
    ]


@pytest.mark.parametrize("fabric", SHIPPED)
def test_the_estimations_that_ship_are_valid(fabric: str) -> None:
    grid = read_grid(CCEVAL / f"{fabric}.yaml", EstimationConfig)
    assert list(grid.points) == ["dctcp", "dcqcn", "timely", "hpcc"]
    for policy, config in grid.points.items():
        assert (config.name, config.fabric.name, config.policy) == (f"cceval-{fabric}.{policy}", fabric, policy)
        assert config.fabric.loads().of_uplinks == pytest.approx(0.15 if fabric == "dumbbell" else 0.3)
        assert len(config.estimate.each) == 16 and {each.target for each in config.estimate.each} == {"mean-of-trials"}


@pytest.mark.parametrize("sizes", ["google-rpc", "ali-storage", "fb-hadoop"])
def test_other_size_tables_can_be_chosen(sizes: str) -> None:
    chosen = [f"fabric.workload.sizes={sizes}", f"estimate={CCEVAL / 'metrics-all.yaml'}", "estimate.ceiling=50"]
    config = read_grid(CCEVAL / "leaf-spine.yaml", EstimationConfig, chosen).points["timely"]
    assert config.estimate.ceiling == 50
    assert config.policy == "timely" and config.fabric.workload.sizes == sizes and len(config.estimate.each) == 11


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_what_a_comparison_takes_comes_from_two_runs(
    lcca: RunCommand, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(STUDY))
    spec = importlib.util.spec_from_file_location("cceval", STUDY / "benchmark.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    runs = [config.parent / name for name in ("dctcp", "timely", "other")]
    for run, change in zip(runs, ("policy=dctcp", "policy=timely", "seed=5"), strict=True):
        assert lcca("estimate", config, "--out", run, "--set", change, "--set", "estimate.ceiling=24").status == 0
    asked, found, values = next(script.compare(*runs[:2]))
    flows = [load_run(run).flows for run in runs[:2]]
    a, b = (each[each.size_bytes < 1e4].groupby("seed").fct_us.median() for each in flows)
    assert (list(values), found.trials, asked.quantile) == (["dctcp", "timely"], 24, 0.5)
    assert found.difference == pytest.approx((b - a).mean(), rel=1e-9)
    assert found.correlation == pytest.approx(stats.pearsonr(a, b)[0])
    script.draw(asked, values, config.parent / "ten" / "few")
    assert script.main([*map(str, runs[:2]), "--json"]) == 0
    assert (config.parent / "ten" / "few-fct_us-50.png").exists()
    with pytest.raises(InputError, match="not the same seed and fabric"):
        script.main([str(runs[0]), str(runs[2])])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("estimate.metric=fct_us", "metric and metrics exclude each other"),
        ("estimate.metrics=[]", "give metric, or several in metrics"),
        ("estimate.metrics.0.metric=fct", "'fct' is not measured here"),
        (
            "estimate.metrics.0.metric=drops",
            "metrics.yaml:7: estimate.metrics.0.flows: only with a fabric and a metric",
        ),
        (
            "estimate.metrics=[{metric: drops}, {metric: fct_us}]",
            "--set: estimate.metrics: metrics of flows and columns of trials",
        ),
        ("estimate.metrics=[{metric: score_bits}]", "estimate.metrics.0: score_bits has an arbitrary zero"),
        ("estimate.metrics.0.flows={from_bytes: 1e9}", "estimate.metrics: fct_us has no value in any of 24 trials"),
        ("estimate=gone.yaml", "gone.yaml"),
    ],
)
def test_what_cannot_be_is_refused(lcca: RunCommand, config: Path, change: str, message: str) -> None:
    answer = lcca("estimate", config, "--out", config.parent / "run", "--set", change)
    assert answer.status == 2 and message in answer.err.replace("\n", " ")
