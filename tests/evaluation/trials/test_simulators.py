"""The simulators that are here, each asked the same questions."""

from __future__ import annotations

import math

import pytest

from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.linux.simulator import Linux
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import FixedWindow, Policy
from lcca.remy_plus.simulator import Simulator
from lcca.remy_plus.workload import FlowSizes, OpenFlows

from .simulator_conformance import SimulatorConformance


class TestEngine(SimulatorConformance):
    """The fast engine."""

    def simulator(self, jobs: int) -> Simulator:
        return Engine(self.DURATION, jobs=jobs)

    def impossible(self) -> tuple[Policy, Network]:
        return baseline("cubic"), self.NETWORKS[0]


class TestNs3(SimulatorConformance):
    """ns-3, where it is installed."""

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _installed(cls) -> None:
        pytest.importorskip("lcca.ns3")

    def simulator(self, jobs: int) -> Simulator:
        return Ns3(self.DURATION, jobs=jobs, options=Ns3Options(header_bytes=0))

    def impossible(self) -> tuple[Policy, Network]:
        flows = OpenFlows(0.5, FlowSizes("two", (1.0, 10.0), (0.0, 1.0)))
        return FixedWindow(5), Network(0, 1.0, 10.0, 1, math.inf, 1.0, 0.0, 0.0, open_flows=flows)


@pytest.mark.flaky(reruns=4, reruns_delay=2)  # in real time
class TestLinux(SimulatorConformance):
    """This machine, where it may: trials in real time are no function of their seed, but their traffic is."""

    REAL_TIME = True
    DURATION = 600e3
    NETWORKS = (
        Network(3, 2.7e-3, 20e3, 4, math.inf, 200e3, 100e3, 0.0),
        Network(4, 1.5e-3, 10e3, 2, 10.0, 250e3, 60e3, 0.01),
        Network(5, 2.0e-3, 15e3, 2, 40.0, 200e3, 60e3, 0.0),
    )

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _allowed(cls, linux: None) -> None:
        """Skip elsewhere."""

    def simulator(self, jobs: int) -> Simulator:
        return Linux(self.DURATION, LinuxOptions(probe=False, late_percent=100))

    def impossible(self) -> tuple[Policy, Network]:
        return FixedWindow(5), Network(0, 1.0, 10.0, 1, math.inf, 1.0, 0.0, 0.0)
