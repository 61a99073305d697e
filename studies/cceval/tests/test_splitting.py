"""`lcca estimate` with `method: splitting`: near plain trials of the same scenario, and refused by name elsewhere."""

from pathlib import Path

import pytest

from tests.fixtures import RunCommand

CONFIG = """\
name: small
policy: dctcp
fabric:
  name: single-packets
  topology: {kind: dumbbell, pairs: 4, bottleneck_gbps: 1, host_gbps: 100}
  workload: {kind: poisson, sizes: "uniform:999:1000", load: 0.0017, load_of: host-links, senders: 4}
  duration_us: 200
estimate: {metric: queue_above, above_bytes: 3700, accuracy_percent: 40, ceiling: 200}
"""
SPLIT = ("--set", "estimate.method=splitting", "--set", "estimate.splitting={levels: 2, runs: 10}")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(CONFIG)
    return tmp_path / "small.yaml"


@pytest.mark.slow
def test_it_agrees_with_plain_trials(lcca: RunCommand, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcca.studies.cceval.recipe._draw", lambda run, found: None)
    plain, split, again = (
        lcca("estimate", config, "--out", config.parent / name, "--json", *options).json()["estimates"][0]
        for name, options in (("a", ()), ("b", SPLIT), ("c", (*SPLIT, "--jobs", "2")))
    )
    assert split["low"] < plain["high"] and plain["low"] < split["high"]
    assert split["method"].startswith("multilevel splitting") and split["estimate"] == again["estimate"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("policy=dcqcn@paraleon", "policy: splitting has no law to check a tuner by"),
        ("fabric.workload={kind: incast, senders: 3, bytes: 1000, period_us: 50}", "fabric.workload.kind: incast"),
        ("estimate.metric=queue_max_bytes", "method: splitting estimates queue_above"),
        ("estimate.above_bytes=null", "metric queue_above and above_bytes need each other"),
        ("simulator=fluid", "'queue_above' is not measured here"),
    ],
)
def test_what_has_no_law_or_no_copy_is_refused_by_name(lcca: RunCommand, config: Path, change: str, told: str) -> None:
    answer = lcca("estimate", config, "--out", config.parent / "run", *SPLIT, "--set", change)
    assert answer.status == 2 and told in answer.err and not (config.parent / "run").exists()
