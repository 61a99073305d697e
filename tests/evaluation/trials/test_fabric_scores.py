"""Completion times, queues, rounds and throughput in bits, by hand and against what the engine counts itself."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trials
from lcca.evaluation.trials.outcome import FlowTimes
from lcca.evaluation.trials.ratio import of_no_job, queue_bytes
from lcca.evaluation.trials.utilities import UTILITIES, fabric_utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.tuners.tuned import named_transport

MS = 1e6  # ns


def test_completion_times_count_by_their_mean() -> None:
    """1, 2 and at least 5 ms of short flows: a mean of 8/3; of long ones 9 ms."""
    size = np.array([10.0, 99_999, 5000, 2e6, 300_000])
    taken = np.array([1, 2, np.nan, 9, 100]) * MS
    times = FlowTimes(size, taken, np.full(5, MS), np.full(5, 5 * MS), np.zeros(5, dtype=np.int64), per_us=1000)
    found = SimpleNamespace(times=times)
    names = ("fct-short", "fct-long", "fct", "fct-short-p99")
    scores = [fabric_utility(name).score_fabric(found) for name in names]
    wanted = [8 / 3, 9, 117 / 5, 2 + 0.98 * 3]  # between two flows a quantile is linear
    assert scores == pytest.approx((-np.log2(wanted)).tolist())


def test_flows_of_jobs_that_nothing_scores_are_others() -> None:
    """A trace's column `job` makes no job: of jobs 0, 7 and none only 0 is scored as one."""
    ones = np.ones(3)
    times = FlowTimes(np.array([10.0, 20, 30]), ones, ones, ones, np.zeros(3, dtype=np.int64))
    found = SimpleNamespace(times=times, flows=SimpleNamespace(job=np.array([0, 7, -1])), started=np.arange(3))
    found.job_times = pd.DataFrame({"job": [0]})
    assert of_no_job(found).size_bytes.tolist() == [20, 30]


QUEUES = {
    "fullest_queued_bytes": np.array([3000.0, 500.0, 45_000.0]),
    "fullest_queued_ns": np.array([30.0, 40.0, 10.0]),
}


@pytest.mark.parametrize(
    ("quantile", "wanted"), [(None, 5600), (0.19, 0), (0.21, 500), (0.6, 500), (0.61, 3000), (0.91, 45_000)]
)
def test_quantiles_of_a_queue_are_over_all_of_the_time(quantile: float | None, wanted: float) -> None:
    """20 of 100 ns without a queue, 40 of 500 bytes, 30 of 3000 and 10 of 45,000."""
    assert queue_bytes({**QUEUES, "end_ns": 100.0}, quantile) == pytest.approx(wanted)


def test_a_packet_is_added_to_a_queue() -> None:
    found = SimpleNamespace(record={**QUEUES, "end_ns": 100.0})
    none = SimpleNamespace(
        record={"fullest_queued_bytes": np.empty(0), "fullest_queued_ns": np.empty(0), "end_ns": 1.0}
    )
    assert fabric_utility("queue-p99").score_fabric(found) == pytest.approx(-np.log2(31))
    assert fabric_utility("queue").score_fabric(none) == 0


def trial(workload: dict[str, object], transport: str = "dctcp-window@step:k_bytes=50000") -> FabricTrial:
    keys = {"name": "star", "topology": {"kind": "star", "hosts": 5}, "workload": workload, "duration_us": 500}
    scenario = FabricScenario.model_validate(keys | {"drain_us": 0})
    engine = engine_of(named_transport(transport), scenario.settings())
    return run_fabric_trials(scenario, {transport: engine}, [3])[0]


LONG = {"kind": "incast", "senders": 3, "bytes": 10**8, "receiver": 4, "period_us": 1e6}


def test_queues_are_those_that_the_engine_counts_at_the_port() -> None:
    found = trial(LONG)
    at = int(np.argmax(found.record["port_mean_queued_bytes"] * (found.record["port_node"] >= 5)))
    assert queue_bytes(found.record, 0.99) == pytest.approx(found.record["port_p99_queued_bytes"][at], rel=1 / 32)
    assert queue_bytes(found.record, None) == pytest.approx(found.record["port_mean_queued_bytes"][at], rel=1 / 32)


def test_throughput_is_that_of_flows_without_end_too() -> None:
    """Three flows fill a link of 100 Gb/s with 1000 of 1048 bytes, but for the first round trip."""
    found = 2 ** trial(LONG).score(fabric_utility("throughput"))
    assert 0.97 * 100_000 / 1048 < found <= 100_000 / 1048


def test_rounds_take_their_mean() -> None:
    found = trial({"kind": "all-to-all", "bytes": 100_000, "off_us": 10})
    row, score = found.row(UTILITIES["rounds"]), found.score(UTILITIES["rounds"])
    assert row["rounds_finished"] >= 2 and len(found.rounds) >= row["rounds_finished"]
    assert (
        score == pytest.approx(-np.log2(row["round_mean_us"] / 1000)) and found.rounds["took_us"].mean() > 4e5 * 8 / 1e5
    )


def test_what_cannot_be_scored_is_refused() -> None:
    without = trial(LONG)
    assert np.isnan(without.score(fabric_utility("rounds")))
    keys = {"name": "star", "topology": {"kind": "star", "hosts": 5}, "workload": LONG, "duration_us": 500}
    with pytest.raises(InputError, match="rounds: star has no rounds; workloads of kind all-to-all have them"):
        FabricTrials(FabricSpace.model_validate({"fabric": keys}), 1, fabric_utility("rounds"))
    with pytest.raises(InputError, match=r"default: scores networks, not a fabric; one of slowdown, .*queue-p95"):
        fabric_utility("default")
    with pytest.raises(InputError, match="queue: scores trials on a fabric; use --on with a scenario"):
        UTILITIES["queue"].score(SimpleNamespace())
