"""What every simulator must do: subclass `SimulatorConformance` and say how to make one.

A simulator of another kind (hosts, flows of bytes) gives its own `NETWORKS` and `POLICIES`; the questions stay.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import Aimd, FixedWindow, Policy
from lcca.remy_plus.record import FLOWS, Record, declared
from lcca.remy_plus.simulator import Simulator
from lcca.remy_plus.topology import Topology

WINDOW = 20
TRIALS = [(0, 0, 7), (0, 1, 7), (0, 2, 7), (1, 0, 7), (1, 1, 7), (0, 0, 8), (1, 2, 9)]
"""(policy, network, seed) of the trials that all questions are about."""

TRAFFIC = ("flow_start_us", "flow_end_us", "flow_sender", "sender_first_on_us")
"""What the workload alone decides, where flows are switched on and off by time."""


class SimulatorConformance:
    """Questions to a simulator."""

    REAL_TIME: ClassVar[bool] = False  # then only what does not depend on the policy follows from the seed
    DURATION: ClassVar[float] = 2500.0
    NETWORKS: ClassVar[tuple[Network, ...]] = (
        Network(3, 2.7, 50.0, 4, math.inf, 600.0, 400.0, 0.0),
        Network(4, 1.5, 20.0, 2, 10.0, 900.0, 300.0, 0.01),
        Network(5, 2.0, 30.0, 2, 40.0, 800.0, 300.0, 0.0, topology=Topology("line")),
    )
    POLICIES: ClassVar[tuple[Policy, ...]] = (FixedWindow(WINDOW), Aimd())

    def simulator(self, jobs: int) -> Simulator:
        """Return the simulator, for trials of `DURATION`."""
        raise NotImplementedError

    def impossible(self) -> tuple[Policy, Network]:
        """Return a policy and a network that the simulator refuses together."""
        raise NotImplementedError

    def run(self, trials: list[tuple[int, int, int]], jobs: int = 1) -> Record:
        """Run trials with all that can be kept."""
        simulator = self.simulator(jobs)
        policy, network, seed = np.array(trials).T
        compiled = [simulator.compile(each) for each in self.POLICIES]
        listed = NetworkList(self.NETWORKS)
        return simulator.run(compiled, listed, policy, network, seed, keep_delays=True, keep_flows=True)

    @pytest.fixture(scope="class")
    @classmethod
    def record(cls) -> Record:
        """The trials, one after another."""
        return cls().run(TRIALS)

    def test_the_columns_are_complete(self, record: Record) -> None:
        rows = {
            "trial": len(TRIALS),
            "sender": sum(self.NETWORKS[network].senders for _, network, _ in TRIALS),
            "flow": int(record["flow_begin"][-1]),
        }
        for name, kind in declared(keep_delays=True, keep_flows=True).items():
            column = record[name]
            assert column.dtype == np.dtype(kind), name
            assert len(column) == (len(TRIALS) + 1 if name.endswith("_begin") else rows[name.split("_")[0]]), name
        assert rows["flow"] > 2 * len(TRIALS) and not any(record.errors)

    def require_same(
        self, one: Record | dict[str, Any], other: Record | dict[str, Any], name: str, of: str = ""
    ) -> None:
        """In real time a start may wait some ms for what this machine does besides."""
        most = 10e3 if self.REAL_TIME else 0.0
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=most, equal_nan=True, err_msg=f"{name} {of}")

    def test_a_trial_is_a_function_of_its_seed(self, record: Record) -> None:
        again = self.run(TRIALS)
        for name in TRAFFIC if self.REAL_TIME else declared(keep_delays=True, keep_flows=True):
            self.require_same(record, again, name)
        first, other = (_of_trial(record, trial) for trial in (0, 5))  # they differ in the seed alone
        assert first["flow_start_us"].tolist() != other["flow_start_us"].tolist()

    def test_neither_workers_nor_other_trials_change_one(self, record: Record) -> None:
        order = [4, 2, 6, 0]
        some = self.run([TRIALS[i] for i in order], jobs=2)
        for at, trial in enumerate(order):
            one, same = _of_trial(some, at), _of_trial(record, trial)
            for name in TRAFFIC if self.REAL_TIME else one:
                self.require_same(one, same, name, f"of trial {trial}")

    def test_policies_meet_the_same_traffic(self, record: Record) -> None:
        window, aimd = (_of_trial(record, trial) for trial in (0, 3))
        for name in TRAFFIC:
            self.require_same(window, aimd, name)
        assert window["sender_delivered"].tolist() != aimd["sender_delivered"].tolist()

    def test_packets_are_conserved(self, record: Record) -> None:
        under_way = record["flow_sent"] - sum(record[f"flow_{name}"] for name in ("delivered", "lost", "dropped"))
        assert (under_way >= 0).all()
        window = np.repeat([policy == 0 for policy, _, _ in TRIALS], np.diff(record["flow_begin"]))
        assert under_way[window].max() <= WINDOW
        assert record["flow_lost"].sum() > 0 and record["flow_dropped"].sum() > 0
        for name in ("sent", "delivered", "lost", "dropped"):
            sums = np.bincount(_sender_of_flow(record), record[f"flow_{name}"], len(record["sender_sent"]))
            np.testing.assert_array_equal(record[f"sender_{name}"], sums)
        plain = record.networks.plain[record.network_index]
        for name in ("sent", "delivered"):
            sums = np.bincount(record.sender_trial, record[f"sender_{name}"])
            np.testing.assert_array_equal(record[f"trial_{name}"][plain], sums[plain])

    def test_flows_lie_within_the_trial(self, record: Record) -> None:
        start, end, last = (record[f"flow_{name}"] for name in ("start_us", "end_us", "last_arrival_us"))
        assert (start >= 0).all() and (start <= end).all() and (end <= self.DURATION).all()
        arrived = record["flow_delivered"] > 0
        assert (last[arrived] > start[arrived]).all() and (last[arrived] <= self.DURATION).all()
        senders, first = np.unique(_sender_of_flow(record), return_index=True)  # the first flow of each
        np.testing.assert_array_equal(record["sender_first_on_us"][senders], start[first])

    def test_what_is_measured_is_possible(self, record: Record) -> None:
        assert ((record["trial_utilisation"] > 0) & (record["trial_utilisation"] <= 1 + 1e-9)).all()
        assert (record["trial_queue_mean_packets"] >= 0).all()
        rtt = record.networks.rtt[record.network_index]
        percentiles = [record[f"trial_rtt_{p}_us"] for p in ("p50", "p90", "p95", "p99", "p999")]
        assert (percentiles[0] >= rtt).all() and (np.diff(percentiles, axis=0) >= 0).all()

    def test_what_it_cannot_run_is_one_error(self) -> None:
        policy, network = self.impossible()
        simulator = self.simulator(1)
        with pytest.raises(InputError):
            simulator.run([simulator.compile(policy)], NetworkList([network]), [0], [0], [1])


def _sender_of_flow(record: Record) -> NDArray[np.int64]:
    """Return the row of each flow's sender."""
    trial = np.repeat(np.arange(record.trials), np.diff(record["flow_begin"]))
    found: NDArray[np.int64] = record["sender_begin"][trial] + record["flow_sender"]
    return found


def _of_trial(record: Record, trial: int) -> dict[str, NDArray[np.generic]]:
    """Return all columns of one trial."""
    found = {}
    for name in declared(keep_delays=True, keep_flows=True):
        kind, _, word = name.partition("_")
        if word == "begin":
            continue
        begin = np.arange(record.trials + 1) if kind == "trial" else record[f"{kind}_begin"]
        found[name] = record[name][begin[trial] : begin[trial + 1]]
    assert len(found) >= len(FLOWS)
    return found
