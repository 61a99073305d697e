"""Tiny trainings and environments, for the tests that ask all of a kind."""

from typing import Any

from lcca.gym_envs.fabric.fabrics import SmallFabric
from lcca.studies.acc.config import FabricAcc
from lcca.studies.acc.marking.incast import Incast
from tests.experiments.runs.run_files import FABRIC, OTHER_LINKS, POLICY, RunKind
from tests.experiments.runs.verbs import FABRIC as FILES
from tests.experiments.runs.verbs import read

from .acc_models import small_model

ACC = """\
name: acc
fabric: star.yaml
held_out:
  - name: busy-star
    topology: {kind: star, hosts: 4}
    workload: {kind: poisson, sizes: fb-hadoop, load: 0.8, load_of: host-links}
    duration_us: 60
trainer:
  interval_us: 10
  delay_us: 2
  templates: {kmin_bytes: [10000, 50000], kmax_bytes: [100000, 400000], pmax: [0.1, 0.5, 1]}
  dqn: {steps: 300, hidden: [8], batch: 32, warm_up: 100, explore_steps: 200, learn_every: 8, sync_every: 20}
  checkpoint_every: 2
test: {pairs: 24, explore: 0}
"""

RUNS = {
    "acc": RunKind(
        ("acc", "small.yaml"),
        FABRIC | {"small.yaml": ACC},
        ("links.csv", OTHER_LINKS),
        [("trainer.interval_us=0", "trainer.interval_us")],
        needs=("torch", "gymnasium"),
    ),
}

VERBS = {
    "acc": read(
        FabricAcc,
        ACC.replace("{pairs", "{against: [policy.json], pairs").replace("name: acc", "name: acc\nseed: 4"),
        FILES | {"policy.json": POLICY},
        "torch",
    )
}
LEARNT = {"acc": small_model}
"""What learnt tuners may have learnt."""

INCAST = Incast(hosts=3, duration_us=2000, large_every_us=1000)
ENVIRONMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "FabricEcn": ("lcca/FabricEcn-v0", {"scenario": SmallFabric(30, 200.0)}),
    "FabricEcn, one port": ("lcca/FabricEcn-v0", {"ports": [(8, 0)], "history": 1, "delay_us": 70.0}),
    "Ns3Ecn": ("lcca/Ns3Ecn-v0", {"incast": INCAST}),
    "Ns3Ecn, grid": ("lcca/Ns3Ecn-v0", {"incast": INCAST, "actions": "grid", "history": 2, "traces": None}),
}
NEED_GYMNASIUM = dict.fromkeys(f"lcca.studies.acc.marking.{name}" for name in ("ns3_env", "fabric_env"))
"""Modules that say so where it is not installed."""
