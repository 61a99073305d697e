"""`lcca estimate` on a fabric: against quantiles and means computed by hand from the rows of `lcca evaluate`."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from lcca.api import load_run
from lcca.evaluation.trials.utility import unfinished_columns
from lcca.experiments.runs.seeds import derive
from lcca.studies.cceval.config import EstimationConfig
from tests.experiments.runs.run_files import LINKS, STAR
from tests.fixtures import RunCommand

from .cases import ESTIMATE

pytestmark = pytest.mark.slow

CONFIG = ESTIMATE.replace("star.yaml", "scenario.yaml")
SCENARIO = STAR.replace("name: star", "name: small")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "fabric").mkdir()
    (tmp_path / "fabric" / "scenario.yaml").write_text(SCENARIO)
    (tmp_path / "fabric" / "links.csv").write_text(LINKS)
    (tmp_path / "fabric" / "config.yaml").write_text(CONFIG)
    return tmp_path / "fabric" / "config.yaml"


def by_hand(lcca: RunCommand, config: Path, trials: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows per flow and per trial of the same seeds, as `lcca evaluate` finds them."""
    run = config.parent / "by-hand"
    first = ("--on", config.parent / "scenario.yaml", "--seed", derive(4, "estimate"))
    found = lcca("evaluate", "dctcp:increase_gbps=0.3", *first, "--trials", trials, "--out", run, "--json")
    return load_run(run).flows, pd.DataFrame(found.json()["rows"])


def test_a_quantile_is_that_of_all_flows_of_these_sizes(lcca: RunCommand, config: Path) -> None:
    found = lcca("estimate", config, "--out", config.parent / "run", "--json").json()["estimates"][0]
    rows, _ = by_hand(lcca, config, found["trials"])
    fct = np.sort(rows[(rows.size_bytes >= 300) & (rows.size_bytes < 10_000)].fct_ns / 1000)
    at, share = divmod(0.9 * (len(fct) - 1), 1)
    at = int(at)
    assert 0 < len(fct) < len(rows) and found["low"] < found["estimate"] < found["high"]
    assert found["estimate"] == pytest.approx(fct[at] + share * (fct[at + 1] - fct[at]), rel=1e-12)
    kept = load_run(config.parent / "run")
    assert set(kept.flows["network"]) >= set(range(found["trials"])) and kept.flows["completed"].all()


@pytest.mark.parametrize("metric", ["slowdown_p99", "slowdown"])
def test_a_mean_is_that_of_trials(lcca: RunCommand, config: Path, metric: str) -> None:
    asked = f"estimate={{metric: {metric}, accuracy: 1e-9, ceiling: 20}}"
    found = lcca("estimate", config, "--out", config.parent / "run", "--set", asked, "--json").json()["estimates"][0]
    flows, trials = by_hand(lcca, config, 20)
    per_trial = flows.groupby("seed").slowdown.mean() if metric == "slowdown" else trials[metric]
    assert found["estimate"] == pytest.approx(per_trial.mean(), rel=1e-12) and found["trials"] == 20


def test_all_columns_of_a_trial_can_be_estimated(lcca: RunCommand, config: Path, tmp_path: Path) -> None:
    _, trials = by_hand(lcca, config, 1)
    for name in set(trials.columns) - {"policy", "seed", *unfinished_columns("score_bits")}:
        values: dict[str, Any] = {"metric": name, "accuracy": 1.0}
        EstimationConfig.model_validate(
            {
                "name": "all",
                "policy": "dctcp",
                "fabric": {"name": "a", "topology": {"kind": "star", "hosts": 4}, "workload": WORKLOAD},
                "estimate": values,
            }
        )


def test_an_ideal_tells_of_flows_only(lcca: RunCommand, config: Path) -> None:
    options = ("--set", "policy=srpt", "--set", "estimate={metric: slowdown, quantile: 0.9, ceiling: 20}")
    found = lcca("estimate", config, "--out", config.parent / "ideal", *options, "--json").json()
    assert 1 <= found["estimates"][0]["estimate"] < 2 and found["notes"] == [] and found["simulator"] == "fabric"
    refused = lcca("estimate", config, "--set", "policy=srpt", "--set", "estimate={metric: queue_p99_bytes}")
    assert refused.status == 2 and "'queue_p99_bytes' is not measured here" in refused.err


def test_what_stands_in_for_the_fabric_is_named(lcca: RunCommand, config: Path) -> None:
    """The estimate is the quantile of the flows that `lcca evaluate` finds with the same simulator and seeds."""
    given = ("--set", "simulator=fluid", "--set", "estimate={metric: slowdown, quantile: 0.9, ceiling: 20}")
    found = lcca("estimate", config, "--out", config.parent / "run", *given, "--json").json()["estimates"][0]
    run, first = config.parent / "by-hand", ("--on", config.parent / "scenario.yaml")
    asked = ("--seed", derive(4, "estimate"), "--trials", 20, "--out", run, "--simulator", "fluid", "--jobs", 2)
    told = lcca("evaluate", "dctcp:increase_gbps=0.3", *first, *asked, "--json").json()
    assert told["simulator"] == "fluid" and "ecn_marks" not in told["policies"][0]
    assert found["estimate"] == pytest.approx(np.quantile(load_run(run).flows.slowdown, 0.9), rel=1e-12)
    assert lcca("plot", run, "--figure", "rates:1").err.count("no port records") == 1
    assert load_run(config.parent / "run").result["simulator"] == "fluid"
    assert "by fluid, which stands in" in lcca("evaluate", "dctcp", *first, "--simulator", "fluid", "--trials", 1).out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["policy=dcqcn@expert"], "config.yaml:4: simulator: simulator fluid cannot have a tuner, which looks at"),
        (["simulator=links"], "simulator: must be one of"),
        (["simulator=link"], "simulator: must be one of"),
        (["estimate.metric=drops"], "'drops' is not measured here"),
        (["utility=queue"], "queue: scores ports, and simulator fluid has no port records"),
        (["fabric.switch.priorities=2"], "cannot have several classes"),
        (["fabric.workload={kind: all-to-all, bytes: 1000, rounds: 2, off_us: 1}"], "cannot have rounds"),
    ],
)
def test_what_cannot_be_stood_in_for_is_refused(
    lcca: RunCommand, config: Path, changes: list[str], message: str
) -> None:
    config.write_text(CONFIG.replace("fabric:", "simulator: fluid\nfabric:"))
    sets = [word for change in changes for word in ("--set", change)]
    answer = lcca("estimate", config, "--out", config.parent / "run", *sets)
    assert answer.status == 2 and message in answer.err.replace("\n", " ")


CONTROLLED = (
    "estimate={metric: slowdown, quantile: 0.9, target: mean-of-trials, ceiling: 30, "
    "control: {simulator: fluid, per_trial: 3}}"
)


@pytest.mark.slow
def test_a_control_variate_is_as_by_hand(lcca: RunCommand, config: Path) -> None:
    """From rows of `lcca evaluate` with the same seeds, whole and cheap."""
    run = config.parent / "run"
    found = lcca("estimate", config, "--out", run, "--set", CONTROLLED, "--json").json()["estimates"][0]
    kept = load_run(run).result["control"]

    def values(simulator: str, purpose: str, count: int) -> NDArray[np.float64]:
        kept = config.parent / f"{purpose}-{simulator}"
        given = ("--seed", derive(4, purpose), "--trials", count, "--simulator", simulator, "--out", kept)
        lcca("evaluate", "dctcp:increase_gbps=0.3", "--on", config.parent / "scenario.yaml", *given)
        return load_run(kept).flows.groupby("seed").slowdown.quantile(0.9).to_numpy()

    full, cheap = values("engine", "estimate", 30), values("fluid", "estimate", 30)
    others = values("fluid", "control", kept["cheap_trials"])
    slopes = [np.polyfit(*np.delete(np.stack([cheap, full]), range(i % 10, 30, 10), axis=1), 1)[0] for i in range(30)]
    assert kept["beta"] == pytest.approx(np.mean(slopes), rel=1e-6)
    assert found["estimate"] == pytest.approx((full - slopes * (cheap - others.mean())).mean(), rel=1e-9)
    assert kept["plain"]["estimate"] == pytest.approx(full.mean(), rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["estimate.target=pooled"], "estimate.control: is for means over trials, which a pooled quantile is not; use"),
        (["estimate={metric: drops, control: fluid}"], "fluid tells of flows only, not drops"),
        (["simulator=fluid"], "estimate.control: only where the whole fabric is simulated"),
        (["policy=dcqcn@expert"], "simulator fluid cannot have a tuner"),
        (["estimate.control=liquid"], "estimate.control.simulator: must be 'fluid'"),
        (["estimate.control={simulator: fluid, per_trial: 0}"], "estimate.control.per_trial: must be > 0"),
        (["estimate.metrics=[{metric: slowdown}]", "estimate.metric=", "estimate.quantile=null"], "is for one metric"),
    ],
)
def test_what_cannot_be_controlled_is_refused(lcca: RunCommand, config: Path, changes: list[str], message: str) -> None:
    sets = [word for change in (CONTROLLED, *changes) for word in ("--set", change)]
    answer = lcca("estimate", config, "--out", config.parent / "run", *sets)
    assert answer.status == 2 and message in answer.err.replace("\n", " ")


def test_pairs_can_be_run_in_what_stands_in(lcca: RunCommand, config: Path) -> None:
    given = ("--on", config.parent / "scenario.yaml", "--trials", 24, "--simulator", "fluid", "--json")
    found = lcca("rank", "window", "hpcc", *given).json()
    assert found["simulator"] == "fluid"
    answer = lcca("evaluate", "aimd", "--on", "networks.yaml", "--simulator", "fluid")
    assert answer.status == 2


def test_ports_are_not_told_of(lcca: RunCommand, config: Path) -> None:
    given = ("--on", config.parent / "scenario.yaml", "--trials", 1, "--simulator", "fluid", "--utility", "queue")
    answer = lcca("evaluate", "dctcp", *given)
    assert answer.status == 2 and "no port records" in answer.err.replace("\n", " ")


@pytest.mark.slow
def test_trials_without_a_flow_are_run_by_every_simulator(lcca: RunCommand, config: Path) -> None:
    """Of twenty trials ten have no flow."""
    scenario = config.parent / "scenario.yaml"
    scenario.write_text(SCENARIO.replace("load: 0.5", "load: 0.15").replace("duration_us: 40", "duration_us: 10"))
    for simulator in ("engine", "fluid"):
        given = ("--on", scenario, "--simulator", simulator, "--seed", derive(4, "estimate"), "--json")
        rows = lcca("evaluate", "dctcp", *given, "--trials", 20).json()["rows"]
        empty = [each["seed"] for each in rows if not each["flows"]]
        assert len(empty) == 10
        alone = ("--on", scenario, "--simulator", simulator, "--seed", empty[0], "--trials", 1)
        answer = lcca("evaluate", "dctcp", *alone)
        assert answer.status == 2 and "no flow starts in 1 trials" in answer.err
        (compared,) = lcca("compare", "dctcp", "hpcc", *given, "--trials", 24).json()["comparisons"]
        assert "pairs left out" in compared["note"]
        assert lcca("rank", "dctcp", "hpcc", *given, "--trials", 24).status == 0
    for change in ("simulator=fabric", "simulator=fluid", "estimate.control=fluid"):
        asked = "estimate={metric: slowdown, target: mean-of-trials, accuracy_percent: 100, ceiling: 60}"
        changes = ("--out", config.parent / change, "--set", asked, "--set", change, "--json")
        assert lcca("estimate", config, *changes).json()["estimates"][0]["estimate"] >= 1
    few = ("--set", "estimate.ceiling=20", "--out", config.parent / "few")
    answer = lcca("estimate", config, *few, "--set", asked.replace("60", "20"), "--set", "estimate.control=fluid")
    assert answer.status == 2 and "has a value in 10 of 20 trials, fewer than floor (20)" in answer.err


WORKLOAD = {"kind": "permutation", "bytes": 1000}


def test_durations_are_those_of_the_flows(lcca: RunCommand, config: Path) -> None:
    run = config.parent / "run"
    options = ("--out", run, "--durations", "20,80", "--simulated-time", "1600", "--json")
    found = lcca("estimate", config, *options).json()
    flows = load_run(run).flows
    flows["ends"] = flows.start_us + flows.fct_us
    assert lcca("estimate", config, *options).json() == found
    for row, trials in zip(found["estimates"], (80, 20), strict=True):
        own = flows[flows.seed.isin(flows.seed.drop_duplicates()[:80] if trials == 80 else flows.seed.unique()[80:])]
        counted = own[(own.size_bytes >= 300) & (own.size_bytes < 1e4)]
        assert own.start_us.max() < row["duration_us"] and row["flows"] == len(counted) and row["trials"] <= trials
        assert row["estimate"] == pytest.approx(counted.fct_us.quantile(0.9), rel=1e-12)
        per_trial = counted.groupby("seed").fct_us.quantile(0.9)
        assert row["mean_of_trials"] == pytest.approx(per_trial.mean()) and row["mean_low"] < row["mean_of_trials"]
        needed = (1.959964 * per_trial.std() / (0.04 * per_trial.mean())) ** 2
        assert row["trials_needed"] == pytest.approx(needed, rel=1e-5)
    assert found["estimates"][1]["stable"] > found["estimates"][0]["stable"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("policy=vegas", "vegas: runs in ns-3 only"),
        ("policy=quic", "'quic': neither a transport"),
        ("policy=dctcp:gain=1", "gain is not a parameter"),
        ("estimate.method=model-based", "needs network.traffic (one link with open flows), not fabric"),
        ("estimate.metric=rtt_p99_us", "'rtt_p99_us' is not measured here"),
        ("estimate.metric=slowdown_p99", "estimate.flows: only with a fabric and a metric of flows"),
        ("estimate={metric: drops, quantile: 0.5}", "only flows have quantiles here; name a column such as slowdown_p"),
        ("estimate.flows.from_bytes=20000", "from_bytes (20000) must be less than below_bytes (10000)"),
        ("estimate.flows.below_bytes=301", "estimate.metric: fct_us has no value in any of 20 trials"),
        ("utility=default", "default: scores networks, not a fabric"),
        ("fabric.workload.load=3", "fabric.workload.load: asks for"),
        ("fabric.topology.links=gone.csv", "gone.csv"),
        ("fabric.drain_us=0", "a flow did not complete: the load is too high for this policy and duration (on a"),
        ("network={link_rate: 1, rtt: 1, traffic: {load: 0.5, sizes: websearch}}", "give one of network"),
    ],
)
def test_what_cannot_be_is_refused(lcca: RunCommand, config: Path, change: str, message: str) -> None:
    answer = lcca("estimate", config, "--out", config.parent / "run", "--set", change, "--set", "estimate.ceiling=20")
    assert answer.status == 2 and message in answer.err.replace("\n", " ")


def test_trials_of_a_trace_are_one_sample(lcca: RunCommand, config: Path) -> None:
    rows = "".join(f"{at},{at},5,{10_000 * at + 500},{100 * at}\n" for at in range(3))
    (config.parent / "flows.csv").write_text("id,src,dst,size_bytes,start_ns\n" + rows)
    trace = f"fabric.workload={{kind: trace, flows: {config.parent / 'flows.csv'}}}"
    answer = lcca("estimate", config, "--out", config.parent / "run", "--set", trace, "--set", "estimate.flows=null")
    assert answer.status == 2 and "all 20 trials are the same, bit for bit: they are one sample" in answer.err
