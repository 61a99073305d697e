"""The options of the network model: one list, in C++, which every call carries whole."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network, compile_network, open_network
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.policy import FixedWindow, compile_policy
from lcca.remy_plus.policies.rules import one_rule
from lcca.remy_plus.workload import FlowSizes, OpenFlows

PLAIN = compile_network(Network(1, 1.0, 20.0, 1, 100, 100.0, 100.0, 0.0))
OPEN = compile_network(open_network(1, 1.0, 20.0, OpenFlows(0.5, FlowSizes("one", (1.0, 1.0), (0.0, 1.0)))))
WINDOW = compile_policy(FixedWindow(10))
ONE, SEED = np.zeros(1, np.uint32), np.zeros(1, np.uint64)
REWARD = {"throughput_weight": 1.0, "delay_weight": 1.0, "interval": 1.0, "aurora_second": 100.0}


def run_batch(**options: Any) -> object:
    keep = dict.fromkeys(("keep_delays", "keep_flows", "keep_rule_hits", "keep_links"), False)
    return _core.run_batch([WINDOW], [PLAIN], ONE, ONE, SEED, duration=100.0, jobs=1, **keep, **options)


def census(**options: Any) -> object:
    table = compile_policy(one_rule(("rtt_ratio",)))
    of = {"duration": 100.0, "jobs": 1, "rule": 0, "axes": ["rtt_ratio"], "prefix": []}
    return _core.census(table, [PLAIN], ONE, SEED, **of, **options)


def flow_trace(**options: Any) -> object:
    flows = (np.array([0, 1]), np.array([1.0]), np.array([1], np.uint64))
    return _core.run_flow_trace(WINDOW, OPEN, *flows, duration=100.0, jobs=1, **options)


def trace(**options: Any) -> object:
    return _core.trace(WINDOW, PLAIN, 0, duration=100.0, script=[], **options)


def agent_slots(**options: Any) -> object:
    flags = dict.fromkeys(("all_senders", "whole_rows", "endless", "keep_records"), True)
    reward = _core.Reward("utility", **REWARD)
    agent = Agent(("rtt_ratio",)).compile()
    return _core.AgentSlots(agent, reward, None, duration=100.0, patience=0.0, slots=[1], jobs=1, **flags, **options)


CALLS = (run_batch, census, flow_trace, trace, agent_slots)


def test_the_dataclass_has_every_option_and_its_default() -> None:
    assert {field.name: field.default for field in fields(Model)} == _core.model_defaults() == Model().parts()


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
@pytest.mark.parametrize("name", _core.model_defaults())
def test_no_call_drops_an_option(call: Any, name: str) -> None:
    call(model=Model().parts())
    with pytest.raises(ValueError, match=f"model lacks {name}"):
        call(model={k: v for k, v in Model().parts().items() if k != name})
    with pytest.raises(ValueError, match=rf"model\.{name} must be"):
        call(model=Model().parts() | {name: "ten"})


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_unknown_and_impossible_options(call: Any) -> None:
    with pytest.raises(ValueError, match="unknown"):
        call(model=Model().parts() | {"speed": 1.0})
    with pytest.raises(ValueError, match=r"ack_size must be in \[0, 1\], got 2"):
        call(model=Model(ack_size=2.0).parts())
