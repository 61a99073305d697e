"""`lcca evaluate` on a fabric from the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.api import load_run
from lcca.evaluation.scenarios.seeds import seed_of
from lcca.experiments.runs.seeds import derive

E2E = Path(__file__).parents[2] / "configs" / "policies" / "e2e.json"
RCP = E2E.with_name("rcp-16.json")
SCENARIO = """\
name: small
topology: {kind: leaf-spine, tors: 2, hosts_per_tor: 4, spines: 2}
workload: {kind: poisson, sizes: fb-hadoop, load: 0.4, load_of: host-links}
duration_us: 60
"""
ROW = """policy seed flows slowdown_mean slowdown_p50 slowdown_p95 slowdown_p99 slowdown_p999 fct_mean_us fct_p99_us
queue_max_bytes queue_mean_bytes queue_p99_bytes ecn_marks pfc_pauses paused_us drops retransmissions packets
goodput_gbps score_bits"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    return path


def test_evaluates_transports(lcca: Any, scenario: Path, tmp_path: Path) -> None:
    options = ("--on", scenario, "--trials", "3", "--seed", "5", "--utility", "slowdown-p99", "--json")
    first = lcca("evaluate", "dctcp", "hpcc:eta=0.9", *options, "--out", tmp_path / "run")
    found = first.json()
    assert set(ROW.split()) <= set(found["rows"][0]) and len(found["rows"]) == 6
    assert [each["id"] for each in found["policies"]] == ["dctcp", "hpcc:eta=0.9"]
    assert [each["seed"] - seed_of(5, 0) for each in found["rows"]] == [0, 0, 1, 1, 2, 2]
    assert found["utility"] == "slowdown-p99"
    assert lcca("export", tmp_path / "run", tmp_path, "--form", "parquet").status == 0
    assert list(load_run(tmp_path / "run").trials["network"]) == [0, 0, 1, 1, 2, 2]
    rows = pd.read_parquet(tmp_path / "flows.parquet")
    assert len(rows) == sum(each["flows"] for each in found["rows"]) and (rows.slowdown >= 1).all()
    assert len(pd.read_parquet(tmp_path / "ports.parquet")) == 6 * 2 * (8 + 4)
    assert lcca("evaluate", "dctcp", "hpcc:eta=0.9", *options, "--jobs", "1").out == first.out


def test_what_was_asked_for_comes_first_and_what_is_unknown_is_explained_once(lcca: Any, scenario: Path) -> None:
    asked = ("evaluate", "dctcp", "hpcc", "--on", scenario, "--seed", "5", "--utility", "slowdown-p99", "--trials")
    text = lcca(*asked, "1").out
    assert text.splitlines()[1].split()[:3] == ["score,", "bits", "(slowdown-p99)"]
    assert (
        text.count("too few") == 1 and text.count("[–]") > 10 and text.endswith("the figure of merit over all sizes\n")
    )
    assert "largest queue" not in text and "Merit, bits" not in text
    every = lcca(*asked, "3", "--tables").out
    assert every.startswith(lcca(*asked, "3").out.partition("\nin brackets")[0].rstrip())
    assert "largest queue" in every and "Figure of merit: one number for flows of all sizes" in every


@pytest.mark.slow
def test_ideals_are_contenders_of_a_kept_evaluation(lcca: Any, scenario: Path, tmp_path: Path) -> None:
    run, asked = tmp_path / "run", ("max-min", "srpt", "dctcp", "--on", scenario, "--trials", "3", "--seed", "5")
    found = lcca("evaluate", *asked, "--json").json()
    fair, shortest, dctcp = found["policies"]
    assert shortest["score_bits"]["mean"] > max(fair["score_bits"]["mean"], dctcp["score_bits"]["mean"])
    assert "queue_max_bytes" in dctcp and "queue_max_bytes" not in fair and fair["merit"]["against"] == "dctcp"
    text = lcca("evaluate", *asked, "--out", run, "--tables").out
    assert "Figure of merit" in text and "− dctcp" in text and "largest queue" in text
    assert lcca("report", run).status == 0
    page = (run / "report.html").read_text()
    assert 'id="merit"' in page and "figure of merit" in page.lower()
    for name in ("fabric", "rates:3,5", "series:20"):
        assert lcca("plot", run, "--figure", name, "--format", "svg", "--out", tmp_path).status == 0
    assert set(pd.read_csv(tmp_path / "fabric.csv").policy) == {"max-min", "srpt", "dctcp"}
    assert (
        set(pd.read_csv(tmp_path / "rates.csv").policy) == {"dctcp"} == set(pd.read_csv(tmp_path / "series.csv").policy)
    )
    kept = load_run(run)
    assert set(kept.ports.policy) == {"dctcp"} and set(kept.flows.policy) == {"max-min", "srpt", "dctcp"}
    alone = tmp_path / "alone"
    assert lcca("evaluate", "srpt", *asked[3:], "--out", alone).status == 0 and lcca("report", alone).status == 0
    assert "no port records" in lcca("plot", alone, "--figure", "rates:3").err


@pytest.mark.slow
def test_draws_a_kept_evaluation_and_looks_into_its_first_trial(lcca: Any, scenario: Path, tmp_path: Path) -> None:
    shutil.copy(E2E, tmp_path / "e2e.json")
    run, learnt = tmp_path / "run", str(tmp_path / "e2e.json")
    asked = ("evaluate", "dctcp", learnt, "--on", scenario, "--trials", "2", "--seed", "5")
    assert lcca(*asked, "--out", run).status == 0
    assert list(lcca("plot", run, "--figure", "list", "--json").json()["figures"]) == ["fabric"]
    draw = ("--format", "svg", "--out", tmp_path)
    for name in ("fabric", "rates:3,5", "series:20"):
        assert lcca("plot", run, "--figure", name, *draw).status == 0
    assert learnt in (tmp_path / "fabric.svg").read_text() and len(pd.read_csv(tmp_path / "fabric.csv")) > 50
    assert "flow 3" in (tmp_path / "rates.svg").read_text()
    rates = pd.read_csv(tmp_path / "rates.csv").groupby("panel")
    assert len(rates) == 2 and set(rates.get_group("Gb/s of flow 5 by µs").policy) == {"dctcp", learnt}
    series = pd.read_csv(tmp_path / "series.csv")
    assert set(series.policy) == {"dctcp", learnt} and (series.time_us % 20 == 0).all()
    assert "mean round trip, µs" in (tmp_path / "series.svg").read_text()
    for name, message in {
        "rates": "write rates:3,17",
        "rates:a": "write rates:3,17",
        "rates:99999": "rates: there is no flow 99999 in the first trial; it has",
        "series:0": "write series:100, in µs from 0.001 to 1e9",
        "series:0.001": "more than 20,000 looks, one every 0.001 µs",
    }.items():
        answer = lcca("plot", run, "--figure", name)
        assert answer.status == 2 and message in answer.err.replace("\n", " ")
    shutil.copy(RCP, tmp_path / "e2e.json")
    assert "e2e.json does other things now" in lcca("plot", run, "--figure", "rates:3").err


def test_prints_tables(lcca: Any, scenario: Path) -> None:
    answer = lcca("evaluate", "swift", "--on", scenario, "--trials", "2", "--set", "workload.load=0.2", "--tables")
    assert answer.status == 0
    for words in ("small: 8 hosts", "p99.9", "below 10 kB", "PFC pauses", "score, bits (slowdown)", "95 %"):
        assert words in answer.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("quic",), "'quic': neither a transport (known: window, dctcp"),
        ((str(RCP), "--set", "mtu_bytes=1059"), "telemetry of " + str(RCP) + " has 1060 bytes, more than 1059"),
        (("dctcp", "dctcp"), "a policy is named twice"),
        (("dctcp", "--utility", "default"), "--utility: default: scores networks, not a fabric"),
        (("dctcp", "--set", "duration=5"), "--set: duration: unknown key (did you mean 'duration_us'"),
        (("dctcp", "--seeds", "3"), "--seeds: needs networks; on a fabric --trials says how many"),
        (("dctcp", "--simulator", "ns3"), "--simulator ns3: not here (known: engine, fluid)"),
        (("dctcp", "--set", "workload.load=2"), "workload.load: asks for"),
        (("dctcp", "--set", "duration_us=0.01", "--trials", "2"), "no flow starts in 2 trials of small, and 0.00"),
    ],
)
def test_what_cannot_be_is_refused(lcca: Any, scenario: Path, options: tuple[str, ...], message: str) -> None:
    answer = lcca("evaluate", *options, "--on", scenario)
    assert answer.status == 2 and message in answer.err.replace("\n", " ")


def test_a_learnt_policy_is_a_transport(lcca: Any, scenario: Path) -> None:
    found = lcca("evaluate", E2E, "window", "--on", scenario, "--trials", "2", "--json").json()["policies"]
    assert [each["flows_finished"] for each in found] == [found[0]["flows"]] * 2
    assert found[0]["slowdown_mean"]["mean"] > 1
    refused = lcca("evaluate", "vegas", "--on", scenario)
    assert refused.status == 2 and "vegas: runs in ns-3 only" in refused.err


def test_a_file_that_names_a_header_has_it_on_its_packets(lcca: Any, scenario: Path, tmp_path: Path) -> None:
    sent = {}
    named = tmp_path / "named.json"
    named.write_text(json.dumps(json.loads(Path(E2E).read_text()) | {"header": "nosignal-8b"}))
    for policy in (named, E2E):
        run = tmp_path / f"run{len(sent)}"
        assert lcca("evaluate", policy, "--on", scenario, "--trials", "1", "--out", run).status == 0
        kept = load_run(run)
        rows = kept.ports
        assert len(kept.flows) == kept.trials["flows"].sum()
        sent[policy] = rows.data_bytes.sum(), rows.data_packets.sum()
    (charged, packets), (free, same) = sent.values()
    assert packets == same and charged - free == 8 * packets


@pytest.mark.slow
def test_compares_on_the_same_flows(lcca: Any, scenario: Path) -> None:
    options = ("--on", scenario, "--trials", "24", "--json")
    found = lcca("compare", "window", "hpcc", *options, "--utility", "slowdown-p99", "--jobs", "2")
    again = lcca("compare", "window", "hpcc", *options, "--utility", "slowdown-p99", "--jobs", "1")
    assert found.out == again.out and [(each["n"], each["blocks"]) for each in found.json()["comparisons"]] == [(24, 6)]
    assert found.json()["comparisons"][0]["correlation"] > 0.3
    assert lcca("compare", "hpcc", "window", *options).json()["utility"] == "slowdown"


def test_shows_transports(lcca: Any) -> None:
    found = {each["name"]: each for each in lcca("show", "transports", "--json").json()}
    assert found["dcqcn"]["parameters"]["increase_us"]["default"] == 300 and found["dctcp"]["marker"]["kind"] == "step"
    assert found["hpcc"]["parameters"]["eta"]["search"] == {"low": 0.8, "high": 1, "step": None, "log": False}
    assert "SIGCOMM 2019" in lcca("show", "transports").out


def test_shows_markers(lcca: Any) -> None:
    found = {each["name"]: each for each in lcca("show", "markers", "--json").json()}
    assert set(found) == {"step", "red", "ecn-sharp", "codel", "pie", "pred"} and all(
        each["source"] for each in found.values()
    )
    assert found["red"]["parameters"]["kmin_bytes"] | {"meaning": ""} == {
        "default": 400e3,
        "unit": "bytes",
        "meaning": "",
        "by_rate": True,
        "search": {"low": 10e3, "high": 1600e3, "step": None, "log": True},
        "limits": None,
        "lossy": False,
    }
    assert "SIGCOMM 2010" in lcca("show", "markers").out


@pytest.mark.slow
def test_ranks_by_mean_scores_on_the_same_flows(lcca: Any, scenario: Path) -> None:
    names = ("window", "hpcc", "dcqcn:increase_us=55")
    options = ("--on", scenario, "--trials", "24", "--seed", "3", "--json", "--jobs")
    found = lcca("rank", *names, *options, "2").json()
    assert lcca("rank", *names, *options, "1").json() == found
    assert (found["networks"], found["unit"], found["scenario"], found["utility"]) == (24, "seeds", "small", "slowdown")
    first = derive(3, "rank")
    own = ("--on", scenario, "--trials", "24", "--seed", first, "--json")
    rows = pd.DataFrame(lcca("evaluate", *names, *own).json()["rows"])
    means = rows.groupby("policy")["score_bits"].mean().sort_values(ascending=False)
    standings = found["policies"]
    assert [each["id"] for each in standings] == list(means.index)
    assert [each["score_bits"]["mean"] for each in standings] == pytest.approx(list(means))
    assert {each["best_rank"] for each in standings} >= {1}


@pytest.mark.slow
def test_combinations_in_braces_are_those_written_out(lcca: Any, scenario: Path) -> None:
    options = ("--on", scenario, "--trials", "24", "--json")
    short = lcca("rank", "dctcp", "dctcp@{step:k_bytes=9000,red:pmax=0.1,kmin_bytes=9000}", *options)
    written = ("dctcp", "dctcp@step:k_bytes=9000", "dctcp@red:pmax=0.1,kmin_bytes=9000")
    assert short.json() == lcca("rank", *written, *options).json()
    evaluated = lcca("evaluate", "{dctcp,dcqcn}@step", "--on", scenario, "--trials", "1", "--json").json()
    assert [each["id"] for each in evaluated["policies"]] == ["dctcp@step", "dcqcn@step"]
    assert "3 policies: a comparison takes two" in lcca("compare", "{dctcp,dcqcn}@red", "dctcp", *options).err
    assert "hpcc@red: do not look at marks" in lcca("rank", "{dctcp,hpcc}@red", *options).err


def test_a_ranking_says_what_it_is_of(lcca: Any, scenario: Path) -> None:
    answer = lcca("rank", "hpcc", "window", "--on", scenario, "--trials", "24", "--utility", "slowdown-p99")
    assert "fabric, small, utility slowdown-p99: 24 seeds" in answer.out and "3 % of typical slowdown" in answer.out
    assert answer.out.startswith(("keep hpcc: no other is settled better", "take window: better than hpcc by more"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--trials", "8"), "--trials: at least 24 are needed"),
        (("--seeds", "8"), "--seeds: needs networks; on a fabric --trials says how many"),
        (("--utility", "default"), "scores networks, not a fabric"),
    ],
)
def test_a_ranking_refuses_what_a_fabric_has_not(
    lcca: Any, scenario: Path, options: tuple[str, ...], message: str
) -> None:
    answer = lcca("rank", "hpcc", "window", "--on", scenario, *options)
    assert answer.status == 2 and message in answer.err.replace("\n", " ")


def test_shows_tuners(lcca: Any) -> None:
    found = {each["name"]: each for each in lcca("show", "tuners", "--json").json()}
    assert {"default", "expert"} <= set(found) and all(each["source"] for each in found.values())
    assert found["expert"]["parameters"]["decrease_us"]["default"] == 80
    assert "Table I" in lcca("show", "tuners").out
