"""A campaign on a cluster ends with the bytes of one that ran alone, whichever node is lost, or can be gone on with."""

import importlib
import importlib.util
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.learning.plan import learners
from lcca.experiments.learning.side_by_side import RemoteTrainings, Stretch, train_stretch
from lcca.inputs.errors import InputError
from lcca.inputs.validation import read_document
from lcca.remy_plus.engine import build
from lcca.workers.cluster import RayCluster, serve
from lcca.workers.pool import Failure, Threads

from ...fixtures import RunCommand, results, start
from ..runs import test_conformance as conformance
from ..runs.run_kinds import KINDS

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="ray is not installed (pip install 'lcca[ray]')"
)


def records(run: Path) -> dict[str, bytes]:
    files = sorted((run / "trials").glob("*.parquet"))
    return results(run) | {file.name: file.read_bytes() for file in files}


class Forgetful(RayCluster):
    """A cluster in this process that loses every third call's result; only what is sent along is there."""

    def __init__(self, count: int) -> None:
        self.count, self.calls, self.sent = count, 0, 0

    def run(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        tries: int = 1,
        then: Callable[[int, Any], Any] = lambda at, result: None,
    ) -> Iterator[tuple[int, Any]]:
        for at, first in enumerate(items):
            item, found = first, None
            while item is not None:
                found = function(item)
                self.calls += 1
                if self.calls % 3:
                    item = then(at, found)
            yield at, found


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_trainings_elsewhere_leave_the_same_records(
    lcca: RunCommand, tiny: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, run = Forgetful(2), tiny.parent / "run"
    pools = {"local": Threads(2), "processes": pool}
    monkeypatch.setattr("lcca.experiments.recipes.sweep.executor", lambda place, workers: pools[place])
    monkeypatch.setattr(RemoteTrainings.__init__, "__defaults__", (0.0,))  # a stretch is one step
    assert lcca("sweep", tiny, "--out", run, "--trainings", 2).status == 0
    assert records(run) == records(finished)
    assert pool.calls > 3 * 4, "more stretches than trainings"


@needs_ray
def test_the_example_of_a_cluster_fits_rays_own_schema() -> None:
    package = Path(importlib.util.find_spec("ray").origin).parent  # type: ignore[union-attr, arg-type]
    schema = json.loads((package / "autoscaler" / "ray-schema.json").read_text())
    example = read_document(Path(__file__).parents[3] / "configs" / "cluster" / "ray.yaml").data
    jsonschema = importlib.import_module("jsonschema")  # comes with Ray
    jsonschema.validate(example, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(example | {"workers": 2}, schema)


def test_another_build_is_refused() -> None:
    found, _ = serve("lcca 0.0.1, engine 0", str, 1)
    assert isinstance(found, Failure) and found.kind == "refused"
    assert "lcca 0.0.1, engine 0" in found.reason and build() in found.reason and "install the same" in found.reason
    assert serve(build(), str, 1)[0] == "1"


def test_a_training_of_other_code_is_refused(tiny: Path) -> None:
    config = read_campaign(tiny)
    learner = learners(config, [1])[0]
    with pytest.raises(InputError, match="install the same wheel"):
        train_stretch(Stretch(config, learner, "another", os.getcwd(), {}, 0.0))


class Cluster:
    """A Ray cluster of two nodes with one core each, made as a user makes one; the first one is its head."""

    def __init__(self, folder: Path) -> None:
        self.environment = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # nobody else's
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        port, self._folder = self.address.rpartition(":")[2], folder
        self.nodes: list[psutil.Popen] = []
        try:
            self._add("--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={folder}")
            self._add(f"--address={self.address}", "--node-ip-address=127.0.0.2")
        except BaseException:
            self.end()
            raise

    def _add(self, *options: str) -> None:
        """Start a node and wait until it has joined; one that comes before the head is ready is started again."""
        common = ["--num-cpus=1", "--block", "--disable-usage-stats", "--object-store-memory=100000000"]
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *common, *options]
        said, at = self._folder / f"node-{len(self.nodes)}.txt", len(self.nodes)
        until = time.monotonic() + 90
        while len(self.nodes) == at or "Ray runtime started" not in said.read_text():
            assert time.monotonic() < until, said.read_text()
            if len(self.nodes) == at or self.nodes[at].poll() is not None:
                with said.open("w") as file:
                    self.nodes[at:] = [
                        psutil.Popen(command, env=os.environ | self.environment, stdout=file, stderr=subprocess.STDOUT)
                    ]
            time.sleep(0.2)

    def kill(self, node: int) -> None:
        """Take a node away with all that runs on it, as a power cut does."""
        for process in [*self.nodes[node].children(recursive=True), self.nodes[node]]:
            process.kill()
        self.nodes[node].wait(10)

    def end(self) -> None:
        for at, node in enumerate(self.nodes):
            if node.is_running():
                self.kill(at)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="lcca-ray-"))  # names of sockets must be short
    try:
        found = Cluster(folder)
        for name, value in {"RAY_ADDRESS": found.address, **found.environment}.items():
            monkeypatch.setenv(name, value)
        try:
            yield found
        finally:
            found.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


ON_RAY = ("--executor", "ray", "--jobs", "2", "--trainings", "2")


def begun(config: Path, run: Path, pattern: str) -> subprocess.Popen[str]:
    """Start a campaign on the cluster, and return when the first of such files is in its folder."""
    process, until = start(config, run, *ON_RAY), time.monotonic() + 120
    while not list(run.glob(pattern)):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    return process


@pytest.mark.full
@needs_ray
@pytest.mark.parametrize("pattern", ["training/*.json", "trials/*.parquet"], ids=["training", "testing"])
def test_a_lost_node_changes_nothing(cluster: Cluster, tiny: Path, finished: Path, pattern: str) -> None:
    run = tiny.parent / "run"
    process = begun(tiny, run, pattern)
    cluster.kill(1)
    assert process.poll() is None
    _, said = process.communicate(timeout=200)
    assert process.returncode == 0, said
    assert records(run) == records(finished)
    if pattern.startswith("training"):
        assert "a node of the Ray cluster was lost; what ran there is run again" in said


@pytest.mark.full
@needs_ray
@pytest.mark.parametrize("name", ["tune", "study"])
def test_a_lost_node_changes_no_tuning_and_no_study(
    name: str, cluster: Cluster, lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are run whole on two nodes, and with one that is lost while candidates or contenders meet."""
    monkeypatch.chdir(KINDS[name].write(tmp_path))
    command, begun = KINDS[name].command, "claims/*" if name == "tune" else "trials/*.parquet"
    assert lcca(*command, "--out", "alone", "--jobs", 1).status == 0
    for run, lost in (("whole", False), ("broken", True)):
        line = [sys.executable, "-m", "lcca.cli.main", *command, "--out", run, *ON_RAY[:4]]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while lost and not list((tmp_path / run).glob(begun)) and process.poll() is None:
            time.sleep(0.02)
        if lost:
            assert process.poll() is None
            cluster.kill(1)
        _, said = process.communicate(timeout=200)
        assert process.returncode == 0, said
        assert conformance.results(tmp_path / run) == conformance.results(tmp_path / "alone")


@pytest.mark.full
@needs_ray
@pytest.mark.usefixtures("no_report")
def test_without_its_head_a_campaign_says_so_and_can_be_gone_on_with(
    cluster: Cluster, lcca: RunCommand, tiny: Path, finished: Path
) -> None:
    run = tiny.parent / "run"
    process = begun(tiny, run, "training/*.json")
    cluster.kill(0)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1 and "Traceback" not in said
    assert "does not answer" in said and "the same command goes on" in said
    assert lcca("sweep", tiny, "--out", run).status == 0
    assert records(run) == records(finished)


@pytest.mark.full
@needs_ray
def test_a_cluster_without_cores_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    monkeypatch.setattr("lcca.workers.cluster.NODE_PATIENCE_S", 2.0)
    ray.init(num_cpus=0, configure_logging=False, log_to_driver=False, include_dashboard=False)
    said: list[str] = []
    try:
        with pytest.raises(ConnectionError, match=r"no node of the Ray cluster .* had a core for 2 s"):
            pool = RayCluster(1)
            pool.tell = said.append
            list(pool.run(str, [1]))
    finally:
        ray.shutdown()
    assert "waiting for a node with 1" in said[0]
