"""The environments' ids: importing this registers them with Gymnasium (``pip install 'lcca[drl]'``).

``gymnasium.make("lcca.gym_envs:lcca/Bottleneck-v0")`` imports it too.
"""

from __future__ import annotations

from lcca.inputs.extras import missing
from lcca.inputs.studies import added, full_name

try:
    from gymnasium.envs.registration import register
except ImportError as error:
    raise missing("gymnasium", "environments") from error

# id: (class, vectorised form or None)
ENVIRONMENTS: dict[str, tuple[str, str | None]] = {
    "lcca/Bottleneck-v0": ("lcca.gym_envs.flow.bottleneck:BottleneckEnv", "lcca.gym_envs.batch.vector_env:bottlenecks"),
    "lcca/Ns3Bottleneck-v0": ("lcca.gym_envs.flow.ns3_bottleneck:Ns3BottleneckEnv", None),
    "lcca/FabricFlow-v0": ("lcca.gym_envs.fabric.env:FabricFlowEnv", "lcca.gym_envs.fabric.env:fabric_flows"),
}

LONGEST = 100_000
"""Decisions of an episode, `max_episode_steps`: episodes end by themselves, at every acknowledgement of a default trial
after some 30,000; it bounds what others cost."""

for name, (single, vector) in ENVIRONMENTS.items():
    register(name, entry_point=single, vector_entry_point=vector, max_episode_steps=LONGEST)

for name, (study, each) in added("environments").items():
    register(name, entry_point=full_name(study, each.entry), max_episode_steps=each.longest)
