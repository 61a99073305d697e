"""`lcca estimate`: from a configuration to an estimate, its figures, and the choice of a duration."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.report.words.headline import headline
from lcca.evaluation.settling.quantiles import tail_quantile
from lcca.evaluation.trials.store import TrialStore
from lcca.inputs.errors import InputError
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.policies.policy import FixedWindow
from lcca.studies.cceval.accuracy import flow_values
from lcca.studies.cceval.config import EstimationConfig
from lcca.studies.cceval.durations import parse_durations
from tests.fixtures import RunCommand
from tests.inputs.test_named_files import ways

LINK = """\
name: tail
policy: fixed-window:80
network: {link_rate: 3, rtt: 25, traffic: {load: 0.5, sizes: ali-storage, packet_bytes: 1000}}
duration: 5000
estimate: {metric: slowdown, quantile: 0.9, accuracy_percent: 10, ceiling: 60}
"""
SPACE = """\
name: score
policy: aimd
networks: {link_rate: 2, rtt: {min: 10, max: 20, step: 5}, senders: 2, buffer: 50, mean_on: 500, mean_off: 100, loss: 0,
  duration: 1000}
estimate: {metric: score_bits, accuracy: 0.2, ceiling: 200}
"""
CONTRACT = {"estimate", "low", "high", "confidence", "trials", "forecast_low", "forecast_high", "method"}


@pytest.fixture
def link(tmp_path: Path) -> Path:
    path = tmp_path / "tail.yaml"
    path.write_text(LINK)
    return path


@pytest.fixture
def space(tmp_path: Path) -> Path:
    path = tmp_path / "score.yaml"
    path.write_text(SPACE)
    return path


def test_a_run_is_said_in_a_line() -> None:
    estimate = {"estimate": 2.0, "low": None, "high": 3.0, "metric": "fct", "quantile": 0.99}
    assert headline({"estimates": [estimate]}) == "fct p99 2 [unbounded, 3]"


def test_sizes_of_flows_may_be_a_file() -> None:
    assert "sizes" in {way[-1] for way in ways(EstimationConfig)}


@pytest.mark.slow
def test_a_policy_is_estimated_with_the_bytes_of_its_header(space: Path, lcca: RunCommand, tmp_path: Path) -> None:
    """One packet at a time waits for nobody: its delay grows by the time that the header takes to send."""
    plain, equipped = tmp_path / "plain.json", tmp_path / "equipped.json"
    policyfile.write(plain, PolicyFile(FixedWindow(1)))
    policyfile.write(equipped, PolicyFile(FixedWindow(1), header="int-md"))
    found = []
    for file in (plain, equipped):
        asked = f"policy={file}", "networks.senders=1", "estimate.metric=rtt_p50_us", "estimate.accuracy=1"
        answer = lcca(
            "estimate", space, "--out", tmp_path / file.stem, *(x for a in asked for x in ("--set", a)), "--json"
        )
        found.append(answer.json()["estimates"][0]["estimate"])
    assert found[1] - found[0] == pytest.approx(0.5 * 32 / 1500, rel=0.01)


def contents(run: Path) -> dict[str, bytes]:
    return {
        str(f.relative_to(run)): f.read_bytes()
        for f in sorted(run.rglob("*"))
        if f.is_file() and f.name not in ("costs.json", "log.txt", ".lock")
    }


@pytest.mark.slow
def test_the_contract_of_estimate(lcca: RunCommand, link: Path) -> None:
    run = link.parent / "run"
    found = lcca("estimate", link, "--out", run, "--json").json()["estimates"][0]
    assert set(found) >= CONTRACT
    assert found["low"] < found["estimate"] < found["high"] and 20 <= found["trials"] <= 60
    assert found["method"] == "model-free: pooled quantile, cluster-Woodruff"
    kept = json.loads((run / "summary.json").read_text())
    assert kept["estimates"] == [found] and found["looks"][-1]["n"] == found["trials"] and kept["config_hash"]
    figures = {file.name for file in (run / "figures").iterdir()}
    assert figures == {f"{name}.{kind}" for name in ("convergence", "violins") for kind in ("png", "svg")}


def test_the_estimate_is_what_its_trials_say(lcca: RunCommand, link: Path) -> None:
    run = link.parent / "run"
    found = lcca("estimate", link, "--out", run, "--json").json()["estimates"][0]
    trials = flow_values(TrialStore(run / "trials").all("estimate"), "slowdown")[: found["trials"]]
    expected = tail_quantile(trials, 0.9)
    assert (found["estimate"], found["low"], found["high"]) == (expected.value, expected.low, expected.high)


def test_a_mean_over_a_space_of_networks(lcca: RunCommand, space: Path) -> None:
    run = space.parent / "run"
    wanted = ("--out", run, "--set", "estimate.accuracy=0.5")
    found = lcca("estimate", space, *wanted, "--json").json()["estimates"][0]
    scores = TrialStore(run / "trials").all("estimate")["score_bits"].dropna()[: found["trials"]]
    assert found["estimate"] == pytest.approx(scores.mean())
    assert (found["high"] - found["low"]) / 2 <= 0.5 and found["trials"] < 200
    answer = lcca("estimate", space, *wanted)
    assert "score_bits mean: " in answer.out and f"{found['trials']} trials; " in answer.out


def test_a_folder_belongs_to_one_configuration(lcca: RunCommand, link: Path) -> None:
    run = link.parent / "run"
    assert lcca("estimate", link, "--out", run).status == 0
    other = lcca("estimate", link, "--out", run, "--set", "seed=2")
    assert other.status == 2 and "another configuration: seed: 1 → 2" in other.err
    strange = lcca("estimate", link, "--out", link.parent)
    assert strange.status == 2 and "not a run; choose another --out" in strange.err


@pytest.mark.slow
@pytest.mark.parametrize("named", ["policy", "sizes"])
def test_the_content_of_the_files_that_are_named_belongs_to_the_run(
    lcca: RunCommand, link: Path, tmp_path: Path, named: str
) -> None:
    """Changed under the same name, they once gave the old result."""
    policy, sizes, run = tmp_path / "pol.json", tmp_path / "sizes.yaml", tmp_path / "run"

    def write(window: int, largest: int) -> None:
        policyfile.write(policy, PolicyFile(FixedWindow(window)))
        sizes.write_text(f"{{name: own, source: here, points: [[1000, 0], [{largest}, 100]]}}")

    write(10, 90_000)
    options = ("--set", f"policy={policy}", "--set", f"network.traffic.sizes={sizes}", "--json")
    first = lcca("estimate", link, "--out", run, *options).json()["estimates"][0]
    assert lcca("estimate", link, "--out", run, *options).json()["estimates"][0] == first
    write(*{"policy": (200, 90_000), "sizes": (10, 9000)}[named])
    answer = lcca("estimate", link, "--out", run, *options)
    assert answer.status == 2 and "another configuration" in answer.err
    assert f"{tmp_path / {'policy': 'pol.json', 'sizes': 'sizes.yaml'}[named]} has another content" in answer.err
    assert (
        lcca("estimate", link, "--out", tmp_path / "new", *options).json()["estimates"][0]["estimate"]
        != first["estimate"]
    )


def test_a_folder_is_claimed_when_everything_named_was_read(lcca: RunCommand, link: Path, tmp_path: Path) -> None:
    (tmp_path / "pol.json").write_text("{")
    for change in (f"policy={tmp_path / 'pol.json'}", "policy=gone.json", "network.traffic.sizes=gone.yaml"):
        for durations in ((), ("--durations", "1000,2000")):
            answer = lcca("estimate", link, "--out", tmp_path / "run", "--set", change, *durations)
            assert answer.status == 2 and answer.err.count("\n") == 1 and not (tmp_path / "run").exists()


def test_the_ceiling_is_told(lcca: RunCommand, link: Path) -> None:
    options = ("--set", "estimate.quantile=0.99", "--set", "estimate.ceiling=20")
    answer = lcca("estimate", link, "--out", link.parent / "run", *options)
    assert "stopped at the ceiling before the accuracy was reached; raise estimate.ceiling" in answer.out
    assert "warning: only " in answer.out  # flows beyond p99 in so few trials


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "estimate.metric=slowdwn",
            "--set: estimate.metric: 'slowdwn' is not measured here (did you mean 'slowdown'?)",
        ),
        ("estimate.metric=delay_us", "'delay_us' is not measured here"),
        ("network=null", "give one of network (one link with open flows), networks (a space) and fabric"),
        ("network.traffic.load=1", "network.traffic.load: must be < 1"),
        ("network.traffic.sizes=websearsh", "--set: network.traffic.sizes: unknown flow sizes 'websearsh'"),
        ("estimate.ceiling=5", "ceiling must be at least floor (20), got 5"),
        ("policy=amd", "--set: policy: amd: no such file, and no baseline of that name (did you mean 'aimd'?)"),
        ("network.traffic.load=1e-9", "tail.yaml:5: estimate.metric: slowdown has no value in any of 20 trials"),
        ("durration=5", "durration: unknown key (did you mean 'duration'?)"),
    ],
)
def test_bad_configurations_are_one_clear_error(lcca: RunCommand, link: Path, change: str, message: str) -> None:
    answer = lcca("estimate", link, "--out", link.parent / "run", "--set", change)
    assert answer.status == 2 and message in answer.err and "Traceback" not in answer.err


def test_a_score_needs_an_accuracy_in_bits_and_no_quantile(lcca: RunCommand, space: Path) -> None:
    run = space.parent / "run"
    assert "give accuracy, in bits" in lcca("estimate", space, "--out", run, "--set", "estimate.accuracy=null").err
    assert (
        "only flows have quantiles here" in lcca("estimate", space, "--out", run, "--set", "estimate.quantile=.9").err
    )


def test_the_hash_names_the_content() -> None:
    link: dict[str, Any] = {
        "link_rate": 3,
        "rtt": 25,
        "traffic": {"load": 0.5, "sizes": "websearch", "packet_bytes": 1000},
    }
    base = {"name": "a", "policy": "aimd", "network": link, "estimate": {"metric": "slowdown"}}
    config = EstimationConfig.model_validate(base)
    assert config.hash == EstimationConfig.model_validate(base).hash
    assert config.hash != EstimationConfig.model_validate(base | {"seed": 2}).hash


def test_flows_of_each_trial_in_the_order_of_the_rows() -> None:
    rows = pd.DataFrame({"seed": [7, 7, 3], "slowdown": [1.0, 2.0, 5.0]})
    assert [x.tolist() for x in flow_values(rows, "slowdown")] == [[1, 2], [5]]
    rows.loc[1, "slowdown"] = np.nan
    with pytest.raises(InputError, match="did not complete"):
        flow_values(rows, "slowdown")


# Choosing a duration.


@pytest.mark.slow
def test_durations_give_a_table_and_a_figure(lcca: RunCommand, link: Path) -> None:
    run = link.parent / "run"
    options = ("--out", run, "--durations", "8000,1000,2000")
    found = lcca("estimate", link, *options, "--json").json()
    assert found == json.loads((run / "durations.json").read_text())
    rows = found["estimates"]
    assert [row["duration_us"] for row in rows] == [1000, 2000, 8000]
    assert rows[-1]["trials"] == 50 and rows[0]["trials"] <= 400  # short trials may have no flow
    sizes = [row["flows"] for row in rows]
    assert max(sizes) / min(sizes) < 1.2  # equal simulated time
    assert rows[0]["estimate"] < rows[-1]["estimate"] and rows[0]["mean_of_trials"] < rows[0]["estimate"]
    assert {file.name for file in (run / "figures").iterdir()} == {"durations.png", "durations.svg"}
    before = contents(run)
    assert "against the longest" in lcca("estimate", link, *options, "--jobs", 1).out
    assert contents(run) == before


@pytest.mark.slow
def test_the_estimate_and_its_durations_share_a_folder(lcca: RunCommand, link: Path) -> None:
    run = link.parent / "run"
    assert lcca("estimate", link, "--out", run, "--durations", "1000,2000", "--simulated-time", "20000").status == 0
    found = lcca("estimate", link, "--out", run, "--json").json()
    assert found == lcca("estimate", link, "--out", link.parent / "alone", "--json").json()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--durations", "5000"), "at least two different ones"),
        (("--durations", "5000,5e3"), "at least two different ones"),
        (("--durations", "5000,x"), "numbers of µs with commas"),
        (("--durations", "5000,-1"), "must be numbers of µs > 0"),
        (("--durations", "nan,1"), "must be numbers of µs > 0"),
        (("--durations", "1000,5000", "--simulated-time", "6000"), "enough for two trials of 5000 µs"),
        (("--durations", "1000,5000", "--simulated-time", "nan"), "enough for two trials"),
    ],
)
def test_bad_durations_are_one_clear_error(
    lcca: RunCommand, link: Path, options: tuple[str, ...], message: str
) -> None:
    answer = lcca("estimate", link, "--out", link.parent / "run", *options)
    assert answer.status == 2 and message in answer.err and not (link.parent / "run").exists()


def test_durations_need_a_quantile_of_flows(lcca: RunCommand, space: Path) -> None:
    answer = lcca("estimate", space, "--out", space.parent / "run", "--durations", "1000,2000")
    assert answer.status == 2 and "needs one quantile of flows" in answer.err


def test_durations_are_sorted() -> None:
    assert parse_durations("5e4,20000,1e4") == (10_000, 20_000, 50_000)
