"""Trials of a benchmark that are measured once, whoever asks."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.ccbench.benchmark import Benchmark, benchmark
from lcca.studies.ccbench.cache import CachedTrials
from lcca.studies.ccbench.scenario import Drawn, Measured, draw

BENCH = benchmark("cc-bench-1")
ONE, TWO = baseline("fixed-window:1"), baseline("fixed-window:2")
DRAWN = draw(BENCH, 1, 6, 0)


class Counting:
    """Measures numbers that differ by trial, last first; counts trials, and may fail or stop after some."""

    name = "counting"

    def __init__(self, ends_after: int = 99, failing: bool = False) -> None:
        self.measured: list[tuple[Policy, Drawn]] = []
        self.left, self.failing = ends_after, failing

    def key(self, benchmark: Benchmark, policy: Policy, drawn: Drawn) -> str:
        return f"{benchmark.name} {policy} {drawn}"

    def measure(self, benchmark: Benchmark, asked: Sequence[tuple[Policy, Drawn]]) -> Iterator[tuple[int, Measured]]:
        for place, (policy, drawn) in reversed(list(enumerate(asked))):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            self.measured.append((policy, drawn))
            yield place, Measured(*_values(policy, drawn), "ns-3 aborted" if self.failing else "")


def _values(policy: Policy, drawn: Drawn) -> tuple[np.ndarray, np.ndarray]:
    first = drawn.number + (0.1 if policy == ONE else 0.2)
    return np.array([first, np.nan, 1 / 3]), np.array([np.nan, 2 * first, 7.0])


def _cached(folder: Path, runner: Counting, modules: tuple[str, ...] = ("lcca.inputs.errors",)) -> CachedTrials:
    return CachedTrials(runner, folder, modules)


def _all(trials: CachedTrials, policies: Sequence[Policy]) -> dict[tuple[int, int], Measured]:
    asked = [(policy, each) for policy in policies for each in DRAWN]
    found = dict(trials.measure(BENCH, asked))
    assert sorted(found) == list(range(len(asked)))
    return {divmod(place, len(DRAWN)): found[place] for place in found}


def test_a_control_that_joins_runs_alone_and_all_get_what_they_had(tmp_path: Path) -> None:
    _all(_cached(tmp_path, Counting()), [ONE])
    runner = Counting()
    found = _all(_cached(tmp_path, runner), [TWO, ONE])
    assert {id(policy) for policy, _ in runner.measured} == {id(TWO)} and len(runner.measured) == len(DRAWN)
    for (which, k), each in found.items():
        mbps, delay = _values((TWO, ONE)[which], DRAWN[k])
        np.testing.assert_array_equal(each.mbps, mbps)  # to the bit, NaN where nothing left
        np.testing.assert_array_equal(each.delay_ms, delay)


def test_a_stop_loses_no_trial(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _all(_cached(tmp_path, Counting(ends_after=4)), [ONE])
    runner = Counting()
    _all(_cached(tmp_path, runner), [ONE])
    assert len(runner.measured) == len(DRAWN) - 4


def test_failed_damaged_and_other_codes_trials_run_again(tmp_path: Path) -> None:
    _all(_cached(tmp_path, Counting(failing=True)), [ONE])
    again = Counting()
    _all(_cached(tmp_path, again), [ONE])
    assert len(again.measured) == len(DRAWN)
    file = min(tmp_path.iterdir())
    file.write_bytes(file.read_bytes().replace(b"0.3", b"0.4"))
    damaged = Counting()
    _all(_cached(tmp_path, damaged), [ONE])
    assert len(damaged.measured) == 1
    other = Counting()
    _all(_cached(tmp_path, other, ("lcca.inputs.files",)), [ONE])
    assert len(other.measured) == len(DRAWN)


@pytest.mark.parametrize("name", ["file", "file/below"])
@pytest.mark.parametrize("dangling", [False, True])
def test_a_file_is_no_folder(tmp_path: Path, name: str, dangling: bool) -> None:
    (tmp_path / "file").symlink_to("nowhere") if dangling else (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="/file: no folder; choose another one for the trial cache"):
        _cached(tmp_path / name, Counting())


def test_a_folder_that_may_not_be_looked_into_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(InputError, match="Permission denied; choose another one for the trial cache"):
        _cached(tmp_path / "cache", Counting())


def test_a_folder_that_cannot_be_written_is_told_before_any_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)  # to root nothing is forbidden
    with pytest.raises(InputError, match=f"{tmp_path}: cannot be written; choose another one for the trial cache"):
        _cached(tmp_path / "new" / "cache", Counting())
    assert not list(tmp_path.iterdir())
