"""Rule tables and fixed windows driven through slots, as agents that pick from a table of actions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.batch.agent_slots import Rules
from lcca.gym_envs.interface.episode import Reward, base_delay_us
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import CARRIED, SIGNALS
from lcca.remy_plus.core.stamping import PLAIN
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.agents import EVERY_ACK, Agent, Decisions, MlpPolicy, TableSteering
from lcca.remy_plus.policies.layers import Layer, Lstm
from lcca.remy_plus.policies.policy import Policy, compile_policy
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule
from lcca.remy_plus.policies.simple import LARGEST_WINDOW

KNOWN = tuple(name for name in SIGNALS if CARRIED.get(name, "queue") in PLAIN)
"""What environments have: signals that need no header."""

TIME = Network(7, 3.0, 25.0, 4, 100, 3000.0, 200.0, 0.002)
SHORT = Network(3, 2.0, 20.0, 2, 30, 400.0, 5.0, 0.01)  # off times below the RTT: late packets of earlier flows
BYTES = Network(9, 2.5, 22.0, 3, 50, 40.0, 60.0, 0.01, "bytes")

FLOW_COLUMNS = ("start_us", "end_us", "share_us", "delay_sum_us", "sent", "delivered", "lost", "dropped")

Choose = Callable[[_core.AgentSlots], NDArray[np.float32]]


def replayed(table: tuple[tuple[float, float, float], ...], decisions: Decisions = EVERY_ACK) -> Agent:
    """An agent that sees every signal and picks from the table, windows of 0 included, as rule tables do."""
    return Agent(KNOWN, 1, decisions, TableSteering(table, initial=0, smallest=0, largest=LARGEST_WINDOW))


def random_table(seed: int) -> RuleTable:
    """A table like one of a search: random rules bisected, random actions."""
    random = np.random.default_rng(seed)
    table = one_rule(SIGNALS[:3], "relative")
    for _ in range(4):
        rule = int(random.integers(len(table)))
        low, high = table.lower[rule], np.minimum(table.upper[rule], table.lower[rule] + 4)
        table = bisect(table, rule, random.uniform(low, high))
    for i in range(len(table)):
        table = table.with_action(i, int(random.integers(1, 60)), round(random.uniform(0, 1), 2), 0.7)
    return table


def actions_of(table: RuleTable) -> tuple[tuple[float, float, float], ...]:
    columns = zip(table.increment, table.multiple, table.pacing, strict=True)
    return tuple((float(a), float(b), float(c)) for a, b, c in columns)


def rule_chooser(table: RuleTable) -> Choose:
    compiled = compile_policy(table)

    def choose(core: _core.AgentSlots) -> NDArray[np.float32]:
        signals = np.asarray(core.signals([int(slot) for slot in core.ready]))
        return np.array([[compiled.find(list(row))] for row in signals], dtype=np.float32)

    return choose


def always(index: int) -> Choose:
    return lambda core: np.full((len(core.ready), 1), index, dtype=np.float32)


def one_environment(rules: Rules, network: Network, seed: int, slots: int | None = None) -> _core.AgentSlots:
    """One trial of one network, begun."""
    listed = NetworkList([network])
    core = rules.core(
        [slots or network.senders],
        all_senders=slots is None,
        whole_rows=False,
        endless=False,
        keep_records=True,
        jobs=1,
    )
    core.set_networks(listed.compiled(compile_network), list(base_delay_us(listed, rules.model)))
    core.start(0, 0, seed)
    return core


def play(core: _core.AgentSlots, choose: Choose) -> int:
    """Play the trial to its end; return the decisions."""
    steps = 0
    while len(core.ready):
        steps += len(core.ready)
        core.step(choose(core))
    return steps


def engine_flows(
    policy: Policy, network: Network, seed: int, duration: float = 10_000.0
) -> dict[str, NDArray[np.float64]]:
    """The flows of the same trial in the engine."""
    batch = Engine(duration=duration, jobs=1).run(
        [compile_policy(policy)], NetworkList([network]), [0], [0], [seed], keep_flows=True
    )
    return {name: batch.floats(f"flow_{name}") for name in (*FLOW_COLUMNS, "sender")}


def window_rules(window: int, reward: Reward | None = None, decisions: Decisions = EVERY_ACK, **more: object) -> Rules:
    """Rules of an agent whose one action is a fixed window."""
    agent = replayed(((window, 0, 0),), decisions)
    return Rules(agent, reward or Reward(), **more)  # type: ignore[arg-type]


def network(agent: Agent, cells: int = 0, seed: int = 1) -> MlpPolicy:
    """A network of random weights that says much and little."""
    random = np.random.default_rng(seed)
    outputs = len(agent.steering.actions) if isinstance(agent.steering, TableSteering) else agent.numbers
    width, memory = agent.inputs, None
    if cells:
        shapes = ((4 * cells, width), (4 * cells, cells), (4 * cells,))
        memory, width = Lstm(*(random.normal(0, 0.5, shape) for shape in shapes)), cells
    sizes = [(16, "tanh"), (outputs, "linear")]
    layers = []
    for size, activation in sizes:
        layers.append(Layer(random.normal(0, 1, (size, width)), random.normal(0, 0.3, size), activation))  # type: ignore[arg-type]
        width = size
    return MlpPolicy(agent, tuple(layers), memory)
