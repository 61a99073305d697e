"""Networks that would keep the engine busy for ever end with one clear error."""

import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Policy, compile_policy
from lcca.remy_plus.topology import Topology

PLAIN, LINE = Topology(), Topology("line")


def run(network: Network, policy: Policy, duration: float = 1000.0) -> None:
    Engine(duration, jobs=1).run([compile_policy(policy)], NetworkList([network]), [0], [0], [1])


@pytest.mark.slow
@pytest.mark.parametrize("topology", [PLAIN, LINE], ids=["dumbbell", "line"])
@pytest.mark.parametrize("policy", [FixedWindow(10), Aimd()], ids=["window", "aimd"])
def test_time_that_stands_still(policy: Policy, topology: Topology) -> None:
    network = Network(7, 1e300, 0.0, 1, 100.0, 1000.0, 1000.0, 0.0, topology=topology)
    with pytest.raises(
        InputError, match=r"network 7: time stands still at .* link_rate 1e\+300 .* rtt 0 .* raise the rtt"
    ):
        run(network, policy)


def test_a_burst_without_end() -> None:
    with pytest.raises(InputError, match="network 8: time stands still"):
        run(Network(8, 1.0, 20.0, 1, 10.0, 1e12, 1e9, 0.0), FixedRate(1e9), 1e10)


@pytest.mark.slow
def test_flows_without_end() -> None:
    with pytest.raises(InputError, match=r"network 9: over 4 million flows by .* raise mean_on or mean_off"):
        run(Network(9, 1.0, 20.0, 1, 10.0, 1e-9, 0.0, 0.0), FixedWindow(1))


def test_a_very_fast_network_still_ends() -> None:
    run(Network(10, 1e12, 1.0, 4, 1e6, 100.0, 100.0, 0.0), FixedWindow(10_000), 100.0)
