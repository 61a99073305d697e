"""What an environment takes and shows: an agent's spaces, actions, other senders (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.remy_plus.policies.agents import Agent, Decisions, LawSteering, Steering, TableSteering, WindowSteering
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.header import header as header_named
from lcca.signal_sets.load import resolve
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
    """Return what the agent can see: 0 (−2 with a law) to `Agent.bounds`, and −1 where no flow is on."""
    low = -2 if isinstance(agent.steering, LawSteering) else -1
    return spaces.Box(np.full(agent.inputs, low, dtype=np.float32), agent.bounds, dtype=np.float32)


def action_space(agent: Agent) -> spaces.Space[Any]:
    """Return what the agent can say: numbers in [−1, 1], or the index of a table's action."""
    if isinstance(agent.steering, TableSteering):
        return spaces.Discrete(len(agent.steering.actions))
    return spaces.Box(-1.0, 1.0, (agent.numbers,), dtype=np.float32)


def action_array(space: Any, action: Any) -> NDArray[Any]:
    """Return an action in the type and shape of its space; numbers of a box may lie beyond its bounds.

    Args:
        space: a Box, Discrete or MultiDiscrete of Gymnasium.
        action: what the agent chose.

    Raises:
        InputError: it is text or a dict, has another size, is NaN or infinite, or is no index of a discrete space. The
            episode goes on.
    """
    discrete = np.dtype(space.dtype).kind in "iu"
    try:
        array = np.asarray(action)
    except ValueError:  # ragged
        array = np.asarray(None)
    if array.dtype.kind in "iuf" and array.size == math.prod(space.shape):
        with np.errstate(over="ignore", invalid="ignore"):
            cast = array.reshape(space.shape).astype(space.dtype)
        if space.contains(cast) and (cast == array.reshape(space.shape)).all() if discrete else np.isfinite(cast).all():
            return cast
    raise InputError(f"step: expected an action in {space}, got {action!r:.60}")


def policy_of(others: Policy | str | None) -> Policy | None:
    """Return the policy of a name: of a baseline, a policy file, or a class in Python as in ``my_cca.py:Mine``.

    Raises:
        InputError: no such name, or a bad file.
    """
    return resolve(others, "engine").policy if isinstance(others, str) else others


def header_with(header: Header | str | None) -> Header | None:
    """Return the header of a name or a file.

    Raises:
        InputError: no such header, or a bad file.
    """
    return header_named(header) if isinstance(header, str) else header
