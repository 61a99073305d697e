"""Calls on a cluster whose nodes and workers go, by a stand-in for Ray in this process."""

import pickle
from types import SimpleNamespace
from typing import Any

import pytest

from lcca.workers import cluster
from lcca.workers.pool import Failure

ERRORS = ("NodeDiedError", "LocalRayletDiedError", "ObjectLostError", "RaySystemError", "WorkerCrashedError")


class Stub:
    """What a pool uses of Ray; `fails` says which results are lost, and why."""

    def __init__(self) -> None:
        names = (*ERRORS, "OutOfMemoryError", "RayError")
        self.exceptions = SimpleNamespace(**{name: type(name, (Exception,), {}) for name in names})
        self.fails: dict[int, str] = {}
        self.got = 0
        self.cancelled: list[Any] = []

    def remote(self, **options: int) -> Any:
        assert options == {"num_cpus": 1, "max_retries": 0}
        return lambda call: SimpleNamespace(remote=lambda *items: (call, pickle.dumps(items), object()))

    def get(self, reference: Any) -> Any:
        self.got += 1
        if self.got in self.fails:
            raise getattr(self.exceptions, self.fails[self.got])
        call, items, _ = reference
        return call(*pickle.loads(items))

    def wait(self, flying: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        return flying[:1], flying[1:]

    def cancel(self, reference: Any, force: bool) -> None:
        self.cancelled.append(reference)

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": 2}}]

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(gcs_address="127.0.0.1:1")


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Stub:
    found = Stub()
    monkeypatch.setattr(cluster, "_connected", lambda: found)
    monkeypatch.setattr(cluster, "_listens", lambda address: True)
    return found


def test_a_lost_node_and_a_dead_worker_cost_nothing(ray: Stub) -> None:
    pool, said = cluster.RayCluster(2), list[str]()
    pool.tell = said.append
    ray.fails = {2: "NodeDiedError", 3: "WorkerCrashedError"}
    assert pool.map(abs, [-1, -2, -3, -4]) == [1, 2, 3, 4]
    assert "a node of the Ray cluster was lost" in said[0] and ray.got == 6


def test_a_worker_that_dies_twice_is_a_failure_and_lost_nodes_do_not_count(ray: Stub) -> None:
    ray.fails = {1: "WorkerCrashedError", 2: "NodeDiedError", 3: "ObjectLostError", 4: "WorkerCrashedError"}
    ((at, found),) = cluster.RayCluster(1).run(abs, [-1])
    assert at == 0 and isinstance(found, Failure) and found.kind == "killed"


def test_who_stops_asking_cancels_what_is_under_way(ray: Stub) -> None:
    running = cluster.RayCluster(3).run(abs, [-1, -2, -3])
    assert next(running) == (0, 1)
    running.close()
    assert len(ray.cancelled) == 2


def test_a_call_goes_on_with_what_its_result_asks_for(ray: Stub) -> None:
    found = cluster.RayCluster(1).run(abs, [-3], then=lambda at, result: 1 - result if result > 1 else None)
    assert list(found) == [(0, 1)] and ray.got == 3


def test_a_node_that_was_lost_too_often_ends_it(ray: Stub) -> None:
    ray.fails = dict.fromkeys(range(1, 20), "NodeDiedError")
    with pytest.raises(ConnectionError, match="a call lost its node 10 times"):
        list(cluster.RayCluster(1).run(abs, [-1]))
