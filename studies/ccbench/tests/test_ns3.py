"""How a benchmark's trial becomes one of ns-3."""

import hashlib
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from lcca.gym_envs.ns3.long_flows import LongResult, WindowCounts
from lcca.gym_envs.ns3.simulator import libraries
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.studies.ccbench.benchmark import benchmark
from lcca.studies.ccbench.description import Scenario
from lcca.studies.ccbench.ns3 import Ns3Bench, _measured
from lcca.studies.ccbench.scenario import Drawn, long_trial

VEGAS = baseline("vegas")


def test_a_rate_changes_seven_seconds_after_the_flow_starts() -> None:
    trial = long_trial(benchmark("cc-bench-1"), VEGAS, Drawn(0, Scenario(24, 2, 20, 0.5), 0, 0.0, 7))
    assert trial.link.rates == ((0, 24), (7, 48), (14, 24), (21, 48))
    assert trial.link.buffer_packets == 20  # half of 24 Mb/s × 20 ms / 12,000 bits
    assert trial.windows_s == ((0, 3), (3, 10), (10, 17), (17, 24))
    assert trial.duration_s == 24  # the flow sends for 30 s, of which nobody looks at the last six
    assert [flow.start_s for flow in trial.flows] == [0]


def test_a_repetition_starts_late_against_the_rates() -> None:
    trial = long_trial(benchmark("cc-bench-1"), VEGAS, Drawn(700, Scenario(24, 2, 20, 1), 1, 0.25, 7))
    assert [at for at, _ in trial.link.rates] == [0, 7, 14, 21]
    assert trial.flows[0].start_s == 0.25 and trial.windows_s[0] == (0.25, 3.25) and trial.duration_s == 24.25


def test_cubic_comes_five_seconds_before() -> None:
    trial = long_trial(benchmark("cc-bench-2"), VEGAS, Drawn(0, Scenario(12, 1, 20, 1), 0, 0.0, 7))
    assert trial.flows[0].policy == VEGAS and trial.flows[0].start_s == 5
    assert trial.flows[1].policy == baseline("cubic") and trial.flows[1].start_s == 0
    assert trial.windows_s[0] == (5, 35) and trial.windows_s[-1][1] == trial.duration_s == 125


def test_marks_are_the_link_s() -> None:
    drawn = Drawn(0, Scenario(24, 1, 20, 4), 0, 0.0, 7)
    assert long_trial(benchmark("cc-bench-1-ecn"), VEGAS, drawn).link.mark_packets == 10
    assert long_trial(benchmark("cc-bench-1"), VEGAS, drawn).link.mark_packets is None


def test_throughput_is_counted_from_the_first_to_the_last_departure() -> None:
    window = WindowCounts(101, 151_500, 1.5, 2.5, 31.0, 101, 0, 40.0)
    silent = WindowCounts(0, 0, float("nan"), float("nan"), float("nan"), 0, 0, float("nan"))
    found = _measured(LongResult(((window, silent), (silent, silent))))
    assert found.mbps[0] == pytest.approx(1.212) and found.delay_ms[0] == 31
    assert found.mbps[1] != found.mbps[1]
    assert _measured(LongResult((), error="ns-3 ended itself")).error


@pytest.mark.slow
def test_a_trial_that_is_kept_belongs_to_the_text_of_a_class(tmp_path: Path) -> None:
    pytest.importorskip("lcca.ns3")
    file, drawn = tmp_path / "mine.py", Drawn(0, Scenario(24, 2, 20, 0.5), 0, 0.0, 7)

    def key(window: int) -> str:
        file.write_text(
            f"class Mine:\n    def start(self): return {window}, 0\n    def on_ack(self, ack): return {window}, 0\n"
        )
        return Ns3Bench(1).key(benchmark("cc-bench-1"), load(f"{file}:Mine").policy, drawn)

    assert key(4) == key(4) != key(5)


def test_a_trial_that_is_kept_belongs_to_the_libraries_of_ns3(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lcca.ns3")
    assert libraries() == _hash_of_linked_libraries()
    bench, drawn = Ns3Bench(1), Drawn(0, Scenario(24, 2, 20, 0.5), 0, 0.0, 7)
    before = bench.key(benchmark("cc-bench-1"), VEGAS, drawn)
    monkeypatch.setattr("lcca.studies.ccbench.ns3.libraries", lambda: "another build's")
    assert bench.key(benchmark("cc-bench-1"), VEGAS, drawn) != before


def _hash_of_linked_libraries() -> str:
    """What the loader of the operating system says that the models need."""
    needed = subprocess.run(["ldd", find_spec("lcca.ns3._core").origin], capture_output=True, text=True, check=True)
    files = {name: Path(at) for name, at in re.findall(r"(libns3\S+) => (\S+)", needed.stdout)}
    assert len(files) >= 4
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + hashlib.sha256(files[name].read_bytes()).digest())
    return digest.hexdigest()
