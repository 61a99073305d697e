"""Where a whole campaign's trials run changes nothing in what it finds, even if a worker is killed on the way."""

import importlib
import importlib.util
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from lcca.evaluation.trials.executors import Batches
from lcca.workers.cluster import RayCluster
from lcca.workers.pool import Failure, Pool
from lcca.workers.processes import Processes

from ...fixtures import RunCommand, all_ended, results, start

HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="ray is not installed (pip install 'lcca[ray]')")

STRUCK = '''
import os, pathlib, signal
from lcca.remy_plus.engine import run_here

def struck(request):
    """Is killed in the middle of its task when the test says so, once each time."""
    try:
        pathlib.Path(os.environ["LCCA_TEST_STRIKE"]).unlink()
    except FileNotFoundError:
        return run_here(request)
    os.kill(os.getpid(), signal.SIGKILL)
'''


def records(run: Path) -> dict[str, bytes]:
    """Return everything that a campaign's numbers rest on, byte by byte."""
    files = sorted((run / "trials").glob("*.parquet"))
    return results(run) | {file.name: file.read_bytes() for file in files}


@pytest.fixture
def strike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that, when made, kills the next worker that begins a task; workers find `struck` in a module."""
    (tmp_path / "struck_for_test.py").write_text(STRUCK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("LCCA_TEST_STRIKE", str(tmp_path / "strike"))
    yield tmp_path / "strike"
    sys.modules.pop("struck_for_test", None)


@pytest.fixture
def cluster(strike: Path) -> Iterator[None]:
    """A local Ray cluster of two workers."""
    ray = pytest.importorskip("ray")
    variables = {"PYTHONPATH": str(strike.parent), "LCCA_TEST_STRIKE": str(strike)}
    quiet = {"configure_logging": False, "log_to_driver": False, "include_dashboard": False}
    ray.init(num_cpus=2, runtime_env={"env_vars": variables}, **quiet)
    yield
    ray.shutdown()


def killing(
    kind: type[Pool], taken: str, strike: Path, at: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Let a worker be killed in the given batches of a sweep; return a list that deaths are added to."""
    run, outcome, batches, deaths = Batches.__call__, getattr(kind, taken), iter(range(10**9)), []

    def struck_batch(self: Batches, request: Any) -> Any:
        if next(batches) in at:
            strike.touch()
        return run(Batches(self.pool, importlib.import_module("struck_for_test").struck), request)

    def seen(self: Pool, source: Any) -> Any:
        found = outcome(self, source)
        deaths.extend([found.reason] if isinstance(found, Failure) and found.dead else [])
        return found

    monkeypatch.setattr(Batches, "__call__", struck_batch)
    monkeypatch.setattr(kind, taken, seen)
    return deaths


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_a_run_goes_on_under_another_executor(lcca: RunCommand, tiny: Path, finished: Path) -> None:
    run = tiny.parent / "run"
    assert lcca("sweep", tiny, "--until", "trained", "--out", run).status == 0
    assert lcca("sweep", tiny, "--out", run, "--executor", "processes", "--jobs", 2).status == 0
    assert records(run) == records(finished)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_a_killed_worker_process_loses_nothing(
    lcca: RunCommand, tiny: Path, finished: Path, strike: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaths = killing(Processes, "_taken", strike, (2, 9), monkeypatch)
    assert lcca("sweep", tiny, "--out", tiny.parent / "run", "--executor", "processes", "--jobs", 2).status == 0
    assert len(deaths) >= 2 and not strike.exists()
    assert records(tiny.parent / "run") == records(finished)


@pytest.mark.slow
def test_a_killed_sweep_leaves_no_process_and_no_open_pipe(tiny: Path) -> None:
    run = tiny.parent / "run"
    sweep = start(tiny, run, "--executor", "processes", "--jobs", "2", "--set", "test.pairs=4000")
    process, children = psutil.Process(sweep.pid), []
    while not (children := process.children(recursive=True)):
        assert sweep.poll() is None
        time.sleep(0.01)
    sweep.kill()
    sweep.communicate(timeout=10)
    assert all_ended(children)


@pytest.mark.full
@needs_ray
@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("strikes", [(), (5, 40, 80)], ids=["undisturbed", "workers killed"])
def test_a_whole_campaign_on_a_ray_cluster_leaves_the_same_records(
    lcca: RunCommand, finished: Path, strike: Path, monkeypatch: pytest.MonkeyPatch, strikes: tuple[int, ...]
) -> None:
    tiny, run = finished.parent / "tiny.yaml", strike.parent / "run"
    deaths = killing(RayCluster, "_outcome", strike, strikes, monkeypatch)
    assert lcca("sweep", tiny, "--out", run, "--executor", "ray", "--jobs", 2).status == 0
    assert records(run) == records(finished)
    assert len(deaths) >= len(strikes)


def test_executors_that_are_not_here_are_told_and_the_folder_is_free(
    lcca: RunCommand, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("sweep", tiny, "--out", tiny.parent / "run", "--executor")
    answer = lcca(*command, "cluster")
    assert answer.status == 2 and "'local', 'processes', 'ray'" in answer.err
    assert not (tiny.parent / "run").exists()
    monkeypatch.setitem(sys.modules, "ray", None)
    for _ in range(2):  # the second time the folder is not still claimed
        answer = lcca(*command, "ray")
        assert answer.status == 2 and "pip install 'lcca[ray]'" in answer.err
