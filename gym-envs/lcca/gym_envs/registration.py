"""The environments' ids: importing this registers them with Gymnasium (``pip install 'lcca[drl]'``).

``gymnasium.make("lcca.gym_envs.registration:lcca/Bottleneck-v0")`` imports it too.
"""

from __future__ import annotations

from lcca.inputs.extras import missing

try:
    from gymnasium.envs.registration import register
except ImportError as error:
    raise missing("gymnasium", "environments") from error

# id: (class, vectorised form or None)
ENVIRONMENTS: dict[str, tuple[str, str | None]] = {
    "lcca/Bottleneck-v0": ("lcca.gym_envs.flow.bottleneck:BottleneckEnv", "lcca.gym_envs.batch.vector_env:bottlenecks"),
    "lcca/Ns3Bottleneck-v0": ("lcca.gym_envs.flow.ns3_bottleneck:Ns3BottleneckEnv", None),
    "lcca/FabricEcn-v0": ("lcca.gym_envs.ecn.fabric_env:FabricEcnEnv", None),
    "lcca/Ns3Ecn-v0": ("lcca.gym_envs.ecn.env:Ns3EcnEnv", None),
    "lcca/Ns3Gym-v0": ("lcca.gym_envs.ns3gym.remote:RemoteSimulation", None),
}

for name, (single, vector) in ENVIRONMENTS.items():
    register(name, entry_point=single, vector_entry_point=vector)
