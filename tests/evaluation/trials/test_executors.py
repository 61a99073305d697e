"""Every executor gives what the engine gives in this process, whoever dies on the way."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.executors import Batches, executor, merge, runner_on
from lcca.evaluation.trials.running import run_record, run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine, Request, run_here
from lcca.remy_plus.engine import Model as EngineModel
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.policies.policy import Aimd, FixedWindow, compile_policy
from lcca.remy_plus.policies.rules import one_rule
from lcca.workers.cluster import RayCluster
from lcca.workers.pool import Pool
from lcca.workers.processes import Processes

RUNNERS = '''
import os, pathlib
from lcca.remy_plus.engine import run_here

def poisonous(request):
    """Dies at seed 13, whoever runs it."""
    if 13 in request.seed:
        os._exit(1)
    return run_here(request)

def unlucky(request):
    """Dies once."""
    try:
        pathlib.Path(os.environ["LCCA_TEST_FLAG"]).touch(exist_ok=False)
    except FileExistsError:
        return run_here(request)
    os._exit(1)
'''


@pytest.fixture
def runners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A module of runners that worker processes can import too."""
    (tmp_path / "runners_for_test.py").write_text(RUNNERS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("LCCA_TEST_FLAG", str(tmp_path / "died"))
    yield importlib.import_module("runners_for_test")
    sys.modules.pop("runners_for_test")


def networks():
    space = NetworkSpace(
        link_rate={"min": 2, "max": 4, "step": 0.5},
        rtt=20,
        senders={"min": 1, "max": 4, "step": 1},
        buffer=100,
        mean_on=500,
        mean_off=100,
        loss=0.001,
        duration=2000,
    )
    return space.draw(1, 7)


def request(keep: bool = True) -> Request:
    policies = [compile_policy(one_rule(("rtt_ratio",))), compile_policy(one_rule(("rtt_ratio", "queue")))]
    index = np.arange(28, dtype=np.uint32)
    return Request(
        policies,
        NetworkList(networks()),
        index % 2,
        index % 7,
        np.arange(28, dtype=np.uint64),
        2000.0,
        EngineModel(),
        1,
        keep,
        keep,
        keep,
    )


def same(a, b) -> None:
    assert a.keys() == b.keys()
    for name, column in a.items():
        for x, y in zip(column, b[name], strict=True) if name == "rule_hits" else [(column, b[name])]:
            assert np.array_equal(x, y, equal_nan=True), name


def test_parts_put_together_are_the_whole() -> None:
    whole = request()
    parts = [run_here(whole.part(a, b)) for a, b in ((0, 1), (1, 13), (13, 28))]
    same(run_here(whole), merge(parts))


class Contract:
    """What every executor must do; a new one subclasses this with its own `make`."""

    def make(self) -> Pool:
        raise NotImplementedError

    def test_same_columns_as_here(self) -> None:
        with self.make() as pool:
            same(run_here(request()), Batches(pool)(request()))

    def test_same_tables_as_here(self) -> None:
        policies = {"a": Aimd(), "w": FixedWindow(10)}
        here = Engine(2000.0, jobs=1)
        with self.make() as pool:
            there = Engine(2000.0, jobs=1, runner=runner_on(pool))
            ours, theirs = (run_trials(e, policies, networks(), [1, 2], utility("default")) for e in (here, there))
            sized = [replace(network, switched="bytes") for network in networks()]
            flows = [run_record(e, policies, sized, [1], keep_flows=True)[0] for e in (here, there)]
        assert ours.equals(theirs)
        same(*(each.columns for each in flows))

    def test_a_dead_worker_loses_nothing(self, runners) -> None:
        with self.make() as pool:
            same(run_here(request()), Batches(pool, runners.unlucky)(request()))

    def test_a_poison_trial_fails_alone(self, runners) -> None:
        with self.make() as pool:
            columns = Batches(pool, runners.poisonous)(request())
        errors = columns["trial_error"]
        assert list(np.flatnonzero(errors != "")) == [13] and "died" in errors[13]
        clean = run_here(request())["trial_delivered"]
        assert (np.delete(columns["trial_delivered"], 13) == np.delete(clean, 13)).all()
        assert columns["trial_delivered"][13] == 0

    def test_a_failed_trial_is_recorded(self, runners) -> None:
        with self.make() as pool:
            engine = Engine(2000.0, jobs=1, runner=Batches(pool, runners.poisonous))
            rows = run_trials(engine, {"a": Aimd()}, networks()[:2], [12, 13], utility("default"))
        bad = rows["status"] == "failed"
        assert (rows.loc[bad, "seed"] == 13).all() and bad.sum() == 2
        assert rows.loc[bad, "score_bits"].isna().all() and rows.loc[bad, "error"].str.contains("died").all()
        assert rows.loc[~bad, "score_bits"].notna().all()


class TestProcesses(Contract):
    def make(self) -> Pool:
        return Processes(2)


@pytest.mark.full
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed (pip install 'lcca[ray]')")
class TestRay(Contract):
    @pytest.fixture(autouse=True)
    def _cluster(self, runners, tmp_path: Path):
        import ray

        ray.init(
            num_cpus=2,
            configure_logging=False,
            log_to_driver=False,
            include_dashboard=False,
            runtime_env={"env_vars": {"PYTHONPATH": str(tmp_path), "LCCA_TEST_FLAG": str(tmp_path / "died")}},
        )
        yield
        ray.shutdown()

    def make(self) -> Pool:
        return RayCluster(2)


def test_threads_give_the_same() -> None:
    with executor("local", 2) as pool:
        same(run_here(request()), runner_on(pool)(request()))


def test_an_empty_batch_is_empty() -> None:
    with executor("processes", 2) as pool:
        assert len(runner_on(pool)(request().part(0, 0))["trial_sent"]) == 0


def test_a_network_without_propagation_has_no_delay_over_rtt() -> None:
    space = NetworkSpace(link_rate=1, rtt=0, senders=1, buffer=10, mean_on=500, mean_off=10, loss=0, duration=2000)
    rows = run_trials(Engine(2000.0, jobs=1), {"w": FixedWindow(2)}, space.draw(1, 1), [1], utility("default"))
    assert rows["delay_over_rtt"].isna().all() and rows["delay_us"].notna().all()


def test_what_the_engine_refuses_is_bad_input() -> None:
    with pytest.raises(InputError, match=r"engine: .*duration"):
        Engine(0.0, jobs=1).run([compile_policy(Aimd())], NetworkList(networks()), [0], [0], [1])
