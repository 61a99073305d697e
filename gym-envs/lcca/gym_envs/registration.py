"""The environments' ids (``pip install 'lcca[drl]'``): one line each, and `lcca.gym_envs` registers them all."""

from __future__ import annotations

from lcca.gym_envs.extras import missing

try:
    from gymnasium.envs.registration import register, registry
except ImportError as error:
    raise missing("gymnasium", "environments") from error

# id: (class, vectorised form or None)
ENVIRONMENTS: dict[str, tuple[str, str | None]] = {
    "lcca/Bottleneck-v0": ("lcca.gym_envs.bottleneck:BottleneckEnv", "lcca.gym_envs.vector:bottlenecks"),
    "lcca/Ns3Bottleneck-v0": ("lcca.gym_envs.ns3_bottleneck:Ns3BottleneckEnv", None),
    "lcca/Ns3Ecn-v0": ("lcca.gym_envs.ns3_ecn:Ns3EcnEnv", None),
}


def register_all() -> None:
    """Register every id that is not yet registered."""
    for name, (single, vector) in ENVIRONMENTS.items():
        if name not in registry:
            register(name, entry_point=single, vector_entry_point=vector)
