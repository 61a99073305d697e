"""The clock of the day may be set while a run is under way, to any time: only what logs say changes."""

import itertools
import time
from pathlib import Path

import pytest

from lcca.experiments.reading.listing import runs_in
from lcca.experiments.reading.watching import glance

from ...fixtures import RunCommand

SPACE = Path(__file__).parents[3] / "configs" / "networks" / "default.yaml"
RANK = ("rank", "aimd", "fixed-window:12", "--on", SPACE, "--trials", 96, "--set", "duration=100", "--jobs", 1)


def test_a_clock_that_jumps_changes_no_byte_and_no_cost(
    lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = lcca(*RANK, "--out", tmp_path / "plain")
    jumps = itertools.cycle((0.0, 4e9, 1e6, -1e6, 2e9))
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    jumping = lcca(*RANK, "--out", tmp_path / "jumping")
    assert plain.status == jumping.status == 0
    for file in ("summary.json", "trials/part-rank,000000.parquet"):
        assert (tmp_path / "plain" / file).read_bytes() == (tmp_path / "jumping" / file).read_bytes()
    seen = glance(tmp_path / "jumping")
    assert all(0 <= each["wall_s"] < 600 and each["cpu_s"] >= 0 for each in seen.phases) and (seen.silent_s or 0) >= 0
    assert seen.ended and {line.state for line in runs_in(tmp_path)} == {"complete"}
