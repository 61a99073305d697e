"""ns-3 validation of a campaign: ns-3 picks or confirms, baselines run beside, a resumed run gives the same bytes."""

import json
import shutil

import pytest

from lcca.api import load_run
from lcca.cli.main import main
from lcca.gym_envs.ns3.simulator import installed
from lcca.inputs.errors import InputError

from ...fixtures import undrawn

CAMPAIGN = """
name: ns3-validation
seed: 3
networks:
  rtt: 20
  link_rate: 2
  senders: {min: 1, max: 2, step: 1}
  buffer: 100
  mean_on: 1000
  mean_off: 500
  loss: 0
  switched: time
  duration: 1500
signal_sets: [e2e, queue]
training_seeds: [1, 2]
trainer: {kind: rplus, mode: racing, rounds: 2, passes: 1, networks: 4, check_networks: 4, budget_trials: 400}
validation:
  networks: 4
  ns3: {pick: ns3, finalists: 2, networks: 12, per_training_seed: 4, topologies: [dumbbell, line],
        baselines: [aimd, cubic]}
test: {pairs: 20, at_least: 20, block: 20}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished campaign."""
    try:
        installed()
    except InputError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("ns3-validation")
    config = folder / "campaign.yaml"
    config.write_text(CAMPAIGN)
    with undrawn():
        assert main(["sweep", str(config), "--out", str(folder / "run"), "--jobs", "2"]) == 0
    return folder


@pytest.mark.slow
def test_the_summary_says_what_ns3_says(run):
    summary = json.loads((run / "run" / "summary.json").read_text())
    told, selected = summary["ns3"], {p["signal_set"]: p["id"] for p in summary["policies"] if p["selected"]}
    assert [record["topology"] for record in told] == ["dumbbell", "line"]
    for record in told:
        assert record["simulator"].startswith("ns-3.")
        assert record["failed"] == 0
        assert [c["B"] for c in record["comparisons"]] == ["queue", selected["queue"], "aimd", "cubic"]
        assert [c["level"] for c in record["comparisons"]] == ["set", "policy", "policy", "policy"]
        assert {a["policy"] for a in record["agreement"]} == set(selected.values())
        for row in record["agreement"]:
            if row["metric"] == "delay_us":
                assert abs(row["difference"]) < 10


@pytest.mark.slow
def test_its_trials_have_their_own_networks(run):
    trials = load_run(run / "run").trials
    assert set(trials["phase"]) >= {"ns3-selection", "ns3-validation"}
    own = trials[trials["phase"] == "ns3-validation"]
    assert (own["topology"] == own["condition"]).all() and set(own["topology"]) == {"dumbbell", "line"}


@pytest.mark.slow
def test_all_trainings_run_there_on_networks_of_their_training_seed(run):
    trials = load_run(run / "run").trials
    told = json.loads((run / "run" / "summary.json").read_text())["ns3"]
    own = trials[trials["phase"] == "ns3-validation-trainings"]
    assert own["simulator"].str.startswith("ns-3.").all()
    networks = own.groupby("training_seed")["network"].unique().map(set)
    assert [len(each) for each in networks] == [4, 4] and not networks[1] & networks[2]
    assert (own.groupby(["condition", "policy"])["network"].nunique() == 4).all()
    assert set(own["topology"]) == {"dumbbell", "line"}
    assert (own["condition"] == own["topology"]).all()
    for record in told:
        found = record["comparisons"][0]
        scores = own[own["topology"] == record["topology"]].groupby(["candidate", "training_seed"])["score_bits"].mean()
        differences = scores["queue"] - scores["e2e"]
        assert found["difference"] == pytest.approx(differences.mean()) and found["n"] == 2
        assert found["sigma_d"] == pytest.approx(differences.std())
        assert found["alpha"] == 0.05 / 2, "shared by two topologies"


@pytest.mark.slow
def test_the_report_has_the_section(run):
    assert "Validation in ns-3" in (run / "run" / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_a_resumed_check_gives_the_same_bytes(run):
    again = run / "again"
    shutil.copytree(run / "run", again)
    for name in ("summary.json", "verdicts.json", "report.html"):
        (again / name).unlink()
    lost = [
        p
        for what in ("ns3-validation,default,line", "ns3-validation-trainings,default,line", "ns3-selection,queue")
        for p in again.glob(f"trials/part-{what}*.parquet")
    ]
    assert len(lost) == 6
    for part in lost:
        part.unlink()
    assert main(["sweep", str(run / "campaign.yaml"), "--out", str(again), "--jobs", "1"]) == 0
    for name in ("summary.json", "verdicts.json"):
        assert (again / name).read_bytes() == (run / "run" / name).read_bytes()


@pytest.mark.slow
def test_trials_that_fail_in_ns3_are_told(run, capsys):
    networks = run / "networks.yaml"
    networks.write_text("- {link_rate: 2, rtt: 20, senders: 1, buffer: 50, mean_on: 500, mean_off: 500, loss: 0}\n")
    broken = ["--simulator", "ns3:queue=red,Nope=1"]
    words = ["evaluate", "aimd", "--on", str(networks), "--seeds", "2", "--set", "duration=1000", "--json"]
    assert main([*words, *broken]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["policies"][0]["failed"] == 2
    assert "2 trials failed: ns-3:" in told.err
    assert "Nope" in told.err
