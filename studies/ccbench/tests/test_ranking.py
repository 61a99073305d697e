"""`lcca rank` on a benchmark: who wins, what it costs, where its files are, and which code its result depends on."""

import importlib.util
import json
from pathlib import Path

import pandas as pd
import pytest

from lcca.cli.main import main
from lcca.experiments.recipes.rank import ranking
from lcca.experiments.runs import code_version
from lcca.experiments.runs.manifest import code_of
from lcca.experiments.verbs.meeting import Rank
from lcca.inputs import studies
from lcca.inputs.digests import imports

ROOT = Path(__file__).resolve().parents[3]

BENCH = """
name: two-buffers
grid:
  - {link_mbps: [12], factor: [1, 0.5], rtt_ms: [20], buffer_bdp: [1, 4, 16]}
duration_s: 4
intervals_s: [[0, 2], [2, 4]]
steps: {first_s: 1, every_s: 1}
score: {kind: power}
"""


@pytest.mark.skipif(importlib.util.find_spec("lcca.ns3") is None, reason="lcca-ns3 is not installed (make ns3)")
@pytest.mark.full
def test_a_smaller_window_wins_by_its_delay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both fill a link of 20 packets; the larger window waits for 20 more, twice the power is lost."""
    (tmp_path / "bench.yaml").write_text(BENCH)
    asked = ["rank", "fixed-window:40", "fixed-window:21", "--on", str(tmp_path / "bench.yaml"), "--trials", "126"]
    assert main([*asked, "--out", str(tmp_path / "run"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in found["policies"]] == ["fixed-window:21", "fixed-window:40"]
    assert found["utility"] == "winning rate" and not found["failed"]
    trials = pd.concat(pd.read_parquet(file) for file in (tmp_path / "run" / "trials").glob("*.parquet"))
    slow = trials[trials["scenario"].str.endswith("x0.5-20ms-16bdp") & (trials["policy"] == "fixed-window:40")]
    assert all(len(each) == 2 for each in slow["mbps"]) and (slow["score_bits"] == 0).all()


@pytest.mark.skipif(importlib.util.find_spec("lcca.ns3") is None, reason="lcca-ns3 is not installed (make ns3)")
def test_a_plan_costs_all_controls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Six scenarios of 12 Mb/s for 4 s, three with two seconds at half the rate: 48 and 36 Mb."""
    (tmp_path / "bench.yaml").write_text(BENCH + "jitter_s: 0\n")
    asked = ["rank", "fixed-window:40", "fixed-window:21", "--on", str(tmp_path / "bench.yaml"), "--plan", "--json"]
    assert main([*asked, "--trials", "102", "--jobs", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    cpu_s, most = sum(found["cpu_s_per_gigabit"].values()), found["costs"][1]
    assert most["scenarios"] == 102 and most["cpu_s"] == pytest.approx(cpu_s * 51 * (48 + 36) / 1000)
    assert most["time_s"] == most["cpu_s"] / 2 and not (tmp_path / "results").exists()


@pytest.mark.skipif(importlib.util.find_spec("lcca.ns3") is None, reason="lcca-ns3 is not installed (make ns3)")
def test_a_control_that_cannot_run_leaves_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", "dctcp", "cubic", "--on", "cc-bench-1", "--out", str(tmp_path / "run")]) == 2
    assert "dctcp: the link is drop-tail" in capsys.readouterr().err and not (tmp_path / "run").exists()


DECIDE = ("source", "description", "scenario", "scores", "engine", "ns3", "place")


@pytest.mark.parametrize("name", [*(f"{name}.py" for name in DECIDE), "benchmarks/cc-bench-1-flat.yaml"])
def test_the_code_of_a_ranking_is_that_of_its_benchmark_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def code() -> str:
        code_version.code_version.cache_clear()
        return code_of(config)

    config = ranking(Rank(["aimd", "fixed-window:9"], "cc-bench-1-flat", simulator="engine")).config
    before, really = code(), imports.read_limited
    other = lambda path: really(path) + b"\n#" * str(path).endswith(f"studies/ccbench/{name}")  # noqa: E731
    monkeypatch.setattr(imports, "read_limited", other)
    after = code()
    code_version.code_version.cache_clear()
    assert after != before


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("configs/cc-bench/learnt.yaml", "studies/ccbench/configs/learnt.yaml"),
        ("configs/networks/cc-bench.yaml", "studies/ccbench/configs/networks.yaml"),
        ("configs/cc-bench-2/learnt.yaml", ""),
        ("configs/networks/cc-bench.yaml.gz", ""),
    ],
)
def test_files_are_found_where_they_were(before: str, now: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert studies.moved(before) == now
    assert studies.moved(str(ROOT / before)) == (str(ROOT / now) if now else "")
