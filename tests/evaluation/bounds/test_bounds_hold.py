"""The certified bound on networks of every kind: no policy is above it, and both agree on what says nothing."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.throughput_delay import ThroughputDelay
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.law import Law
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow
from lcca.remy_plus.topology import Topology

AT_RATE = {"increase": -30, "decrease": -30, "pull": 1, "target": 0.3, "pace_target": 1, "pace_queue": 0.1}
LAWS = {"law": Law.of({"boost": 3, "decrease": 0.5}), "law at a rate": Law.of(AT_RATE, rate="capacity/flows")}
SIMPLE = (*map(FixedWindow, (1, 3, 15, 400)), FixedRate(0.3), FixedRate(2.0), Aimd())
POLICIES = LAWS | {str(each): each for each in SIMPLE}
TOPOLOGIES = ("dumbbell", "dumbbell", "line", "line:hosts_per_router=2", "reverse-path")


def any_networks(seed: int, count: int) -> Iterator[tuple[Network, ThroughputDelay, float]]:
    """Networks, utilities and durations far from all that is usual."""
    rng = np.random.default_rng(seed)
    for id in range(count):
        network = Network(
            id,
            link_rate=float(rng.choice([0.2, 1, 3, 10])),
            rtt=float(rng.choice([0, 5, 25, 100])),
            senders=int(rng.choice([1, 2, 3, 8, 30])),
            buffer=float(rng.choice([0, 1, 10, 100, math.inf])),
            mean_on=float(rng.choice([1, 10, 100, 3000])),
            mean_off=float(rng.choice([1, 50, 1000])),
            loss=float(rng.choice([0, 0, 0.01, 0.3])),
            switched=str(rng.choice(["time", "bytes"])),
            topology=Topology.of(str(rng.choice(TOPOLOGIES))),
        )
        weights = rng.choice([0, 0.1, 1, 2, 100]), rng.choice([0, 1, 2, 100])
        yield network, ThroughputDelay("any", *map(float, weights)), float(rng.choice([300, 1000]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_policy_exceeds_the_bound_on_any_network(seed: int) -> None:
    judged = 0
    for network, utility, duration in any_networks(seed, 25):
        found = ideal_scores([network], [seed], utility, duration).iloc[0]
        trials = run_trials(Engine(duration, jobs=1), POLICIES, [network], [seed], utility, keep_delays=False)
        says_nothing = trials["score_bits"].isna()
        assert (says_nothing == math.isnan(found["upper_bits"])).all(), network
        if says_nothing.any():
            continue
        # With random losses it is a bound on the expected score.
        luck = -utility.throughput_weight * math.log2(1 - network.loss) if network.switched == "time" else 0.0
        assert trials["score_bits"].max() <= found["upper_bits"] + luck + 1e-9, network
        judged += 1
    assert judged > 15
