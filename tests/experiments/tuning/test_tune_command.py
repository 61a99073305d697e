"""`lcca tune`: from a file to a policy, the same however often it is stopped and by however many it is run."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.api import tune
from lcca.experiments.runs.seeds import derive
from lcca.experiments.tuning.config import TuningConfig
from lcca.inputs.validation import read_with_files, validate
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import FixedWindow

pytest.importorskip("optuna")

ROOT = Path(__file__).resolve().parents[3]

SMALL = """\
name: small
networks:
  link_rate: {min: 1, max: 2, step: 0.5}
  rtt: {min: 10, max: 20, step: 5}
  senders: {min: 1, max: 4, step: 1}
  buffer: 50
  mean_on: {min: 200, max: 1000, step: 100}
  mean_off: 100
  loss: 0.01
  duration: 1000
simulator: engine
tuner:
  policy: fixed-window:40
  space: {window: {min: 1, max: 60, step: 1}}
  sampler: {kind: tpe, startup: 4}
  trials: 8
  batch: 4
  networks: 24
test: {pairs: 112, at_least: 32, block: 32}
settle: {kind: group-sequential}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tuning that was never broken, not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.yaml").write_text(SMALL)
    found = tune(folder / "small.yaml", out=folder / "small", jobs=2)
    assert found.folder == folder / "small" and len(found.rows) == 2 * found.content["policies"][0]["trials"]
    assert str(found).startswith("tuned against default: better, ")
    return folder / "small"


def start(config: Path, run: Path, *options: str, **more: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lcca.cli.main", "tune", str(config), "--out", str(run), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def results(run: Path) -> tuple[dict[str, bytes], pd.DataFrame]:
    names = ("summary.json", "policy.json", "config.yaml")
    return {name: (run / name).read_bytes() for name in names}, pd.read_parquet(run / "candidates.parquet")


def assert_same(one: Path, other: Path) -> None:
    (files, rows), (other_files, other_rows) = results(one), results(other)
    assert files == other_files
    pd.testing.assert_frame_equal(rows, other_rows)


def wait_for(condition: Any, process: subprocess.Popen[str]) -> None:
    for _ in range(3000):
        if condition() or process.poll() is not None:
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen within a minute")


@pytest.mark.slow
def test_gives_a_policy_its_worth_on_fresh_networks_and_all_candidates(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    (comparison,) = summary["comparisons"]
    assert comparison["A"] == "default" and comparison["B"] == "tuned" and comparison["verdict"] == "better"
    default, tuned = summary["policies"]
    assert tuned["score_bits"]["low"] < tuned["score_bits"]["mean"] < tuned["score_bits"]["high"]
    assert default["parameters"] == {"window": 40}
    file = policyfile.read(finished / "policy.json")
    assert isinstance(file.policy, FixedWindow) and file.policy.window == tuned["parameters"]["window"]
    assert file.provenance["config_hash"] == summary["config_hash"] and file.provenance["study"].startswith("small-")
    rows = pd.read_parquet(finished / "candidates.parquet")
    assert len(rows) == 9 and sum(summary["candidates"].values()) == 8
    assert rows["score_bits"].max() == tuned["search_score_bits"]


@pytest.mark.slow
def test_search_and_test_meet_different_networks(finished: Path) -> None:
    config = validate(read_with_files(finished / "config.yaml", TuningConfig), TuningConfig)
    tested = pd.concat([pd.read_parquet(f) for f in sorted((finished / "trials").glob("*.parquet"))])
    assert set(tested["seed"]) == {derive(config.seed, "test")} != {derive(config.seed, "tune")}
    assert set(tested["policy"]) == {"default", "tuned"} and (tested["status"] == "ok").all()


@pytest.mark.full
def test_a_full_disk_loses_nothing(lcca: Any, small: Path, tmp_path: Path) -> None:
    """A limit on the size of files fills the disk in the middle of a study."""
    settings = ["--set", "tuner.networks=96", "--set", "tuner.race=null"]  # so that the study grows
    full = start(small, tmp_path / "run", *settings, preexec_fn=limit_files)
    _, err = full.communicate(timeout=120)
    assert full.returncode == 2 and "Traceback" not in err
    assert err.splitlines()[-1].startswith("lcca: the study's database cannot be used: ")
    whole = lcca("tune", small, "--out", tmp_path / "whole", *settings, "--json").json()
    assert lcca("tune", small, "--out", tmp_path / "run", *settings, "--json").json() == whole


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (116_000, 116_000))


@pytest.mark.full
def test_helpers_change_nothing(lcca: Any, small: Path, finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "small"
    leader = start(small, run, "--jobs", "1")
    wait_for(lambda: (run / "claims").exists(), leader)
    leader.send_signal(signal.SIGSTOP)  # until the helper is there
    threading.Timer(2, leader.send_signal, [signal.SIGCONT]).start()
    assert lcca("tune", small, "--out", run, "--join", "--jobs", "1").status == 0
    assert leader.wait(timeout=120) == 0, leader.communicate()[1]
    assert_same(run, finished)


@pytest.mark.slow
def test_a_run_that_is_there(lcca: Any, small: Path, finished: Path) -> None:
    shown = lcca("tune", small, "--out", finished)
    assert f"{finished}: complete already; nothing to do" in shown.err
    assert shown.status == 0 and "fixed-window:40 in engine" in shown.out and "better" in shown.out
    other = lcca("tune", small, "--out", finished, "--set", "seed=2")
    assert other.status == 2 and "another configuration" in other.err
    alone = lcca("tune", small, "--out", finished, "--join")
    assert alone.status == 2 and "no process leads" in alone.err
    assert lcca("report", finished).status == 0 and "tuned" in (finished / "report.html").read_text()


def test_nothing_better_than_the_start(lcca: Any, small: Path, tmp_path: Path) -> None:
    options = ["--set", "tuner.trials=1", "--set", "tuner.space={window: [500]}", "--out", tmp_path / "run"]
    summary = lcca("tune", small, *options, "--json").json()
    assert summary["comparisons"] == []
    assert [each["parameters"] for each in summary["policies"]] == [{"window": 40}] * 2
    assert summary["policies"][1]["trials"] == 32
    assert "no candidate was better" in lcca("tune", small, *options).out
    assert policyfile.read(tmp_path / "run" / "policy.json").policy == FixedWindow(40)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("tuner.space={widow: {min: 1, max: 2}}", "did you mean 'window'"),
        ("tuner.sampler={kind: tp}", "tuner.sampler"),
        ("tuner.policy=vegas", "no parameter 'window'"),
        ("settle={arms: independent}", "paired"),
    ],
)
def test_bad_input_is_said(lcca: Any, small: Path, tmp_path: Path, setting: str, words: str) -> None:
    answer = lcca("tune", small, "--out", tmp_path / "run", "--set", setting)
    assert answer.status == 2 and words in answer.err and not (tmp_path / "run").exists()


def test_hand_designed_controls_need_ns3(lcca: Any, tmp_path: Path) -> None:
    file = ROOT / "configs" / "tuning" / "vegas.yaml"
    answer = lcca("tune", file, "--out", tmp_path / "run", "--set", "simulator=engine")
    assert answer.status == 2 and "ns-3" in answer.err


def test_says_what_to_install(lcca: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcca.inputs.extras.find_spec", lambda name: None if name == "optuna" else object())
    answer = lcca("tune", small, "--out", tmp_path / "run")
    assert answer.status == 2 and "optuna" in answer.err and "pip install 'lcca[tune]'" in answer.err


@pytest.mark.parametrize("file", sorted((ROOT / "configs" / "tuning").glob("*.yaml")), ids=lambda f: f.stem)
def test_packaged_tunings_are_valid(file: Path) -> None:
    config = validate(read_with_files(file, TuningConfig), TuningConfig)
    assert config.tuner.policy.partition("@")[0] == file.stem
    assert config.fabric is not None or (config.tuner.space == "table-5" and config.simulator == "ns3")


@pytest.mark.slow
def test_vegas_in_ns3(lcca: Any, small: Path, tmp_path: Path) -> None:
    pytest.importorskip("lcca.ns3")
    space = "tuner.space={alpha: {min: 1, max: 2, step: 1}, beta: {min: 3, max: 4, step: 1}}"
    settings = ["simulator=ns3", "tuner.policy=vegas", space, "tuner.sampler={kind: greedy}", "tuner.trials=3"]
    settings += ["tuner.networks=5", "tuner.race=null", "networks.senders=2", "networks.duration=300"]
    settings += ["test={pairs: 20, at_least: 20, block: 20}"]
    options = [word for setting in settings for word in ("--set", setting)]
    summary = lcca("tune", small, "--out", tmp_path / "run", "--jobs", "2", "--json", *options).json()
    assert summary["simulator"].startswith("ns-3") and summary["policies"][1]["failed"] == 0
    policy = policyfile.read(tmp_path / "run" / "policy.json")
    assert policyfile.loads(policyfile.dumps(policy)).policy == policy.policy
    assert os.fspath(tmp_path) not in (tmp_path / "run" / "summary.json").read_text()
