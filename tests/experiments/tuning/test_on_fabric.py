"""`lcca tune` of a transport on a fabric."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.report.words.tuned import advice, settings
from lcca.evaluation.settling.judgement import judge
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.recipes.tune import tune
from lcca.experiments.runs.seeds import derive
from lcca.experiments.tuning.config import TuningConfig
from lcca.experiments.tuning.search import search_in
from lcca.inputs.validation import read_with_files, validate
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.switches.transports import TRANSPORTS, Transport
from lcca.remy_plus.tuners.tuned import named_transport
from lcca.trainers.tune.config import TransportTuneConfig
from lcca.trainers.tune.space import Range
from lcca.workers.pool import Threads

from ...fixtures import RunCommand
from ..runs.run_files import TUNE

pytest.importorskip("optuna")

CONFIG = TUNE.replace("star.yaml", "scenario.yaml")
SCENARIO = """\
name: small
topology: {kind: star, hosts: 6}
workload: {kind: poisson, sizes: fb-hadoop, load: 0.3, load_of: host-links}
duration_us: 150
"""
LOSSY = SCENARIO.replace("small", "tight") + "switch: {pfc: false, buffer_bytes_per_port: 20 kB}\n"
TWO = """\
name: two
fabric: [scenario.yaml, lossy.yaml]
tuner: {policy: "window:bdps=2", trials: 3, batch: 2, networks: 8, race: null}
test: {pairs: 24, at_least: 24, block: 8}
"""
RESULTS = ("summary.json", "policy.json", "config.yaml")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning")
    (folder / "scenario.yaml").write_text(SCENARIO)
    (folder / "small.yaml").write_text(CONFIG)
    return folder / "small.yaml"


@pytest.fixture(scope="module")
def finished(config: Path) -> Path:
    """The folder of a tuning that was never broken."""
    run = config.parent / "finished"
    tune(validate(read_with_files(config, TuningConfig), TuningConfig), out=run)
    return run


def results(run: Path) -> tuple[dict[str, bytes], Any]:
    parts = {each.name: each.read_bytes() for each in (run / "trials").glob("*.parquet")}
    files = {name: (run / name).read_bytes() for name in RESULTS}
    return files | parts, pd.read_parquet(run / "candidates.parquet").to_dict("records")


@pytest.mark.slow
def test_ends_with_settings_to_paste(lcca: RunCommand, config: Path, finished: Path) -> None:
    answer = lcca("tune", config, "--out", finished)
    assert answer.status == 0, answer.err
    paste = r"^tuned, to paste *\nparameter +at 100 Gb/s +unit +what it is *\nbdps +1 +bandwidth-.*; default 0.1 "
    assert re.search(paste, answer.out, re.M)
    assert "Change nothing below 3\u00a0% (settle.margin_percent): this is more.\n" in answer.out
    assert f"optuna-dashboard sqlite:///{finished / 'study.sqlite3'}\n" in answer.out
    page = (finished / "report.html").read_text(encoding="utf-8")
    assert (finished / "study.sqlite3").is_file() and "Tuned, to paste" in page and "at 100 Gb/s" in page
    assert "hroughput-" not in page and "typical slowdown, default above tuned" in page
    searched, tested, other = json.loads((finished / "costs.json").read_text())["phases"]
    networks = pd.read_parquet(finished / "candidates.parquet").query("same_as == -2").networks.sum()
    assert searched["trials"] == networks == json.loads((finished / "summary.json").read_text())["network_trials"]
    cpu_s = sum(each["cpu_s"] for each in (searched, tested, other))
    assert (
        other["cpu_s"] > 0 and f"{searched['trials'] + tested['trials']:,} trials and {cpu_s:,.0f} CPU seconds" in page
    )


def test_settings_are_for_every_rate_with_three_digits_and_units() -> None:
    """Thresholds of ports go with their rate; hosts have their own values; a marker's probability is everybody's."""
    own = {"red.kmin_bytes": 400e3, "red.pmax": 0.2, "increase_us": 300.0, "hyper_gbps": 0.2}
    tuned = {"red.kmin_bytes": 30331.2, "red.pmax": 0.96, "increase_us": 10.1924, "hyper_gbps": 0.3414021}
    policies = [{"parameters": own}, {"parameters": tuned}]
    summary = {"kind": "tune", "policy": "dcqcn@red", "simulator": "fabric", "policies": policies}
    table = settings(summary | {"rates_gbps": {"hosts": [25.0, 100.0], "switches": [100.0, 200.0]}})
    assert table.head == ("parameter", "at 25 Gb/s", "at 100 Gb/s", "at 200 Gb/s", "unit", "what it is")
    assert [row[:5] for row in table.rows] == [
        ("red.kmin_bytes", "", "30.3", "60.7", "kB"),
        ("red.pmax", "", "0.96", "0.96", ""),
        ("increase_us", "10.2", "10.2", "", "µs"),
        ("hyper_gbps", "0.341", "0.341", "", "Gb/s"),
    ]
    meanings = [row[5] for row in table.rows]
    assert meanings[0].endswith("; default 400 / 800 kB") and meanings[2].endswith("(rpg_time_reset); default 300 µs")
    assert not any("per 25 Gb/s" in each for each in meanings)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.10, 0.30, "this is more"),
        (0.01, 0.03, "this is less"),
        (0.02, 0.30, "whether this is more is open"),
        (-0.30, 0.30, "whether this is more is open"),
        (-0.30, -0.10, "this is less"),
    ],
)
def test_the_verdict_says_when_to_change_nothing(low: float, high: float, words: str) -> None:
    margin, middle = math.log2(1.03), (low + high) / 2
    found = judge(low, high, margin)
    comparison = {"verdict": found.name, "size": found.size, "margin": margin, "difference": middle}
    percents = {"difference": 100 * (2**middle - 1)}
    said = advice(comparison | {"throughput_equivalent_percent": percents})
    assert said == f"Change nothing below 3\u00a0% (settle.margin_percent): {words}."


@pytest.mark.slow
def test_a_poor_start_and_a_poor_candidate_lose(lcca: RunCommand, config: Path, finished: Path) -> None:
    found = json.loads((finished / "summary.json").read_text())
    told = [found[key] for key in ("simulator", "scenario", "unit", "utility")]
    assert told == ["fabric", "small", "seeds", "slowdown"]
    default, tuned = found["policies"]
    assert (default["id"], default["parameters"]) == ("default", {"bdps": 0.1})
    assert (tuned["id"], tuned["parameters"]) == ("tuned", {"bdps": 1.0})
    (comparison,) = found["comparisons"]
    assert comparison["verdict"] == "better" and comparison["low"] > 0.5
    rows = pd.read_parquet(finished / "candidates.parquet").set_index("parameter_bdps")
    assert rows.score_bits[0.05] < rows.score_bits[0.1].min() < rows.score_bits[1.0]
    assert rows.state[0.05] == "stopped" and rows.networks[0.05] < 12
    policy = finished / "policy.json"
    assert policyfile.read(policy).policy == Transport("window", {"bdps": 1})
    flows = ("--on", config.parent / "scenario.yaml", "--trials", "12", "--seed", derive(1, "tune"), "--json")
    again = lcca("evaluate", policy, "window:bdps=0.1", *flows).json()["policies"]
    assert again[0]["score_bits"]["mean"] == pytest.approx(tuned["search_score_bits"])
    assert again[1]["score_bits"]["mean"] == pytest.approx(default["search_score_bits"])
    assert "bdps" in lcca("show", "policy", policy).out


@pytest.mark.slow
def test_search_and_test_meet_other_flows(finished: Path) -> None:
    tested = pd.concat(map(pd.read_parquet, sorted((finished / "trials").glob("*.parquet"))))
    first = derive(1, "test")
    assert set(tested["seed"]) == set(range(first, first + tested["network"].nunique())) and len(tested) >= 48


@pytest.mark.slow
def test_a_search_without_a_test_is_tested_later(config: Path, finished: Path, tmp_path: Path) -> None:
    read = validate(read_with_files(config, TuningConfig), TuningConfig)
    found = search_in(read, tmp_path / "run", workers=Threads(1), quiet=True)
    assert found.policy == Transport("window", {"bdps": 1}) and not (tmp_path / "run/trials").exists()
    tune(read, out=tmp_path / "run", resume=True)
    assert results(tmp_path / "run") == results(finished)


@pytest.mark.slow
def test_several_scenarios_are_met_in_turn(lcca: RunCommand, config: Path) -> None:
    """Every other seed on each; reactions to losses are tuned where some may be; another seed is another search."""
    folder = config.parent
    (folder / "lossy.yaml").write_text(LOSSY)
    (folder / "two.yaml").write_text(TWO)
    read = validate(read_with_files(folder / "two.yaml", TuningConfig), TuningConfig)
    assert set(read.tuner.build_space().axes) == {"bdps", "loss_factor"}
    alone = TuningConfig.model_validate(read.model_dump() | {"fabric": read.model_dump()["fabric"][0]})
    assert set(alone.tuner.build_space().axes) == {"bdps"}
    assert "lossy" not in read.model_dump()["tuner"]
    best = []
    assert isinstance(read.place, FabricSpace)
    for seed in (1, 2):
        run = folder / f"two-{seed}"
        assert lcca("tune", folder / "two.yaml", "--out", run, "--set", f"seed={seed}").status == 0
        found = json.loads((run / "summary.json").read_text())
        assert found["scenario"] == "small, tight"
        rows = pd.concat(map(pd.read_parquet, sorted((run / "trials").glob("*.parquet"))))
        assert rows[["network", "scenario"]].drop_duplicates().groupby("scenario").size().tolist() == [12, 12]
        halves = [
            FabricTrials(FabricSpace(fabric=each), derive(seed, "test"), fabric_utility("slowdown"))
            .rows({"": Transport("window", {"bdps": 2})}, Block(0, 0, 24))
            .score_bits.iloc[number::2]
            for number, each in enumerate(read.place.scenarios)
        ]
        assert found["policies"][0]["score_bits"]["mean"] == pytest.approx(pd.concat(halves).mean())
        best.append(pd.read_parquet(run / "candidates.parquet").parameter_loss_factor.tolist())
    assert best[0] != best[1]


@pytest.mark.parametrize("name", [name for name, kind in TRANSPORTS.items() if kind.searches(100)])
def test_usual_ranges_hold_the_default_and_go_with_the_rate(name: str) -> None:
    at = {
        gbps: TransportTuneConfig.model_validate({"policy": name, "host_gbps": gbps, "lossy": True})
        for gbps in (100, 25)
    }
    fast, slow = (each.build_space() for each in at.values())
    for key, axis in fast.axes.items():
        knob, other = TRANSPORTS[name].knobs[key], slow.axes[key]
        assert isinstance(axis, Range) and isinstance(other, Range)
        assert axis.min <= fast.start[key] <= axis.max and other.min <= slow.start[key] <= other.max  # type: ignore[operator]
        assert axis.max / other.max == (4 if knob.by_rate else 1)


def test_the_start_is_what_the_policy_says() -> None:
    space = TransportTuneConfig.model_validate({"policy": "dcqcn:increase_us=55,g=0.1", "space": {"g": [0.1, 0.2]}})
    assert space.build_space().policy == Transport("dcqcn", {"increase_us": 55, "g": 0.1})
    assert json.dumps(space.build_space().start) == '{"g": 0.1}'


def test_markers_are_tuned_with_their_transport() -> None:
    config = TransportTuneConfig(policy="dctcp-window@red:pmax=0.5", space="usual", host_gbps=10)
    space = config.build_space()
    assert {"g", "red.kmin_bytes", "red.kmax_bytes", "red.pmax"} <= set(space.axes)
    assert space.start["red.pmax"] == 0.5
    found = space.build(space.start | {"red.kmin_bytes": 5e4})
    assert isinstance(found, Transport) and found.marker == marking("red", kmin_bytes=5e4, pmax=0.5)
    assert not space.fits(space.start | {"red.kmin_bytes": 1e6, "red.kmax_bytes": 1e5})
    file = policyfile.PolicyFile(found)
    assert policyfile.loads(policyfile.dumps(file)).policy == found
    tuned = named_transport("dcqcn@red@dcqcn-plus:alpha_us=40")
    assert policyfile.loads(policyfile.dumps(policyfile.PolicyFile(tuned))).policy == tuned
    with pytest.raises(ValidationError, match=r"no parameter 'red.kmid_bytes' \(did you mean 'red.kmin_bytes'"):
        TransportTuneConfig(policy="dctcp-window@red", space={"red.kmid_bytes": {"min": 1, "max": 2}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("tuner.policy=vegas", "tuner.policy: vegas: runs in ns-3 only; a fabric has"),
        ("tuner.policy=dcqcn@expert", "'dcqcn@expert': expert sets parameters itself; tune the transport without it"),
        ("tuner.policy=quic", "tuner.policy: 'quic': neither a transport"),
        ("tuner.space={gain: [1, 2]}", "no parameter 'gain' (known: bdps, loss_factor)"),
        ("tuner.space={bdps: [-1, 2]}", "bdps: must be from 0 to 1e+09, got -1"),
        ("tuner.space=table-5", "table-5 has no ranges for 'window'"),
        ("test.at_least=240", "test.at_least: must be at most pairs (40), got 240"),
        ("tuner.race.first_look=12", "tuner: race.first_look must be below networks (12)"),
        ("utility=default", "default: scores networks, not a fabric"),
        ("simulator=ns3", "simulator: ns3 does not run fabrics"),
        ("fabric=null", "give either networks (a space) or fabric (a scenario)"),
        ("fabric.workload.load=4", "fabric.workload.load: asks for"),
    ],
)
def test_what_cannot_be_is_refused(lcca: RunCommand, config: Path, change: str, message: str) -> None:
    answer = lcca("tune", config, "--out", config.parent / "run", "--set", change)
    assert answer.status == 2 and message in answer.err.replace("\n", " ") and not (config.parent / "run").exists()


def test_what_scores_jobs_alone_is_not_tuned_beside_other_flows(lcca: RunCommand, config: Path) -> None:
    place = f"fabric={Path('configs/ai/scenarios/small-storage.yaml').resolve()}"
    answer = lcca("tune", config, "--set", place, "--set", "utility=completion", "--plan")
    said = "completion: ai-small-storage has other flows, which policies would learn to starve; use completion-and-slow"
    assert answer.status == 2 and said in answer.err.replace("\n", " ")
