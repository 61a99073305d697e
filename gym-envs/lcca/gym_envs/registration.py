"""The environments' ids (``pip install 'lcca[drl]'``): one line each, and `lcca.gym_envs` registers them all."""

from __future__ import annotations

from lcca.inputs.extras import missing

try:
    from gymnasium.envs.registration import register, registry
except ImportError as error:
    raise missing("gymnasium", "environments") from error

# id: (class, vectorised form or None)
ENVIRONMENTS: dict[str, tuple[str, str | None]] = {
    "lcca/Bottleneck-v0": ("lcca.gym_envs.flow.bottleneck:BottleneckEnv", "lcca.gym_envs.batch.vector_env:bottlenecks"),
    "lcca/Ns3Bottleneck-v0": ("lcca.gym_envs.flow.ns3_bottleneck:Ns3BottleneckEnv", None),
    "lcca/Ns3Ecn-v0": ("lcca.gym_envs.ecn.env:Ns3EcnEnv", None),
}


def register_all() -> None:
    """Register every id that is not yet registered."""
    for name, (single, vector) in ENVIRONMENTS.items():
        if name not in registry:
            register(name, entry_point=single, vector_entry_point=vector)
