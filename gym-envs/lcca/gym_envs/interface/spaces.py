"""Gymnasium's spaces of an agent (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from lcca.inputs.extras import missing
from lcca.remy_plus.policies.agents import Agent, Decisions, Steering, TableSteering, WindowSteering
from lcca.signal_sets.registry import signal
from lcca.signal_sets.signal_set import SignalSet, signal_set

try:
    from gymnasium import spaces
except ImportError as error:
    raise missing("gymnasium", "environments") from error

Signals: TypeAlias = str | SignalSet | Sequence[str]


def agent_with(
    signals: Signals,
    history: int = 1,
    decisions: Decisions | None = None,
    steering: Steering | None = None,
) -> Agent:
    """Return the agent that sees a signal set.

    Args:
        signals: name or file of a signal set, the set itself, or names of signals.
        history: decisions whose signals are seen.
        decisions: when it decides; once per round trip if left out.
        steering: what its numbers mean; a factor of the window if left out.

    Raises:
        InputError: an unknown set or signal, or impossible numbers.
    """
    names: Sequence[str]
    if isinstance(signals, str):
        names = signal_set(signals).signals
    else:
        names = signals.signals if isinstance(signals, SignalSet) else signals
    engine = tuple(signal(name).name for name in names)
    return Agent(engine, history, decisions or Decisions(), steering or WindowSteering())


def observation_space(agent: Agent) -> spaces.Box:
    """Return what the agent can see: 0 to `Agent.bounds`, and −1 where no flow is on."""
    return spaces.Box(np.full(agent.inputs, -1, dtype=np.float32), agent.bounds, dtype=np.float32)


def action_space(agent: Agent) -> spaces.Space[Any]:
    """Return what the agent can say: numbers in [−1, 1], or the index of a table's action."""
    if isinstance(agent.steering, TableSteering):
        return spaces.Discrete(len(agent.steering.actions))
    return spaces.Box(-1.0, 1.0, (agent.numbers,), dtype=np.float32)
