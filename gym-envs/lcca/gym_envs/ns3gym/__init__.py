"""The ns3-gym wire protocol, both ends: our agents drive its simulations, and its agents drive our environments.

`RemoteSimulation` is the agent's end, a Gymnasium environment. `ServedEnvironment` is the simulation's end, around any
Gymnasium environment. The protocol is that of github.com/tkn-tub/ns3-gym, written from its facts; see docs/how-to/ns3-gym.md.

Importing this registers ``lcca/Ns3Gym-v0`` with Gymnasium where that is installed.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lcca.gym_envs.ns3gym.errors import Ns3GymError, PeerLost, ProtocolError
from lcca.inputs.extras import missing

if TYPE_CHECKING:
    from lcca.gym_envs.ns3gym.remote import RemoteSimulation
    from lcca.gym_envs.ns3gym.served import Episode, ServedEnvironment

__all__ = [
    "ENVIRONMENT",
    "Episode",
    "Ns3GymError",
    "PeerLost",
    "ProtocolError",
    "RemoteSimulation",
    "ServedEnvironment",
]

ENVIRONMENT = "lcca/Ns3Gym-v0"
"""The id of `RemoteSimulation` in Gymnasium's registry."""

_HOMES = {"RemoteSimulation": "remote", "ServedEnvironment": "served", "Episode": "served"}
_PACKAGES = {"zmq": "pyzmq", "gymnasium": "gymnasium"}


def __getattr__(name: str) -> Any:
    """Import the two ends when they are asked for: they need optional packages."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if error.name not in _PACKAGES:
            raise
        raise missing(_PACKAGES[error.name], "both ends of ns3-gym", "ns3gym") from None
    return getattr(home, name)


if find_spec("gymnasium") is not None:
    from gymnasium.envs.registration import register, registry

    if ENVIRONMENT not in registry:
        register(ENVIRONMENT, entry_point=f"{__name__}:RemoteSimulation")
