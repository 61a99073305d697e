"""Trials in ns-3 on other machines: these must have the same ns-3."""

import pytest

pytest.importorskip("lcca.ns3")

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.gym_envs.ns3 import simulator
from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.policy import Aimd
from lcca.workers.processes import Processes

SPACE = NetworkSpace.model_validate(
    {"link_rate": 2, "rtt": 20, "senders": 2, "buffer": 50, "mean_on": 500, "mean_off": 100, "loss": 0.01}
    | {"duration": 300}
)


class Elsewhere(Processes):
    """Worker processes that pass for those of other machines."""

    away = True


def test_the_same_ns3_gives_the_same_and_another_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with Elsewhere(1) as pool:
        here, there = (
            SPACE.trials(1, DEFAULT, Execution("ns3", 1, pool=each)).rows({"a": Aimd()}, Block(0, 0, 2))
            for each in (None, pool)
        )
        assert here.equals(there)
        monkeypatch.setattr(simulator, "libraries", lambda: "another")
        with pytest.raises(InputError, match="it has another build of ns-3"):
            SPACE.trials(1, DEFAULT, Execution("ns3", 1, pool=pool)).rows({"a": Aimd()}, Block(0, 0, 1))
