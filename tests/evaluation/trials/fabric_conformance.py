"""The questions of `UtilityConformance` to utilities of fabrics: the trials are those of seeds on a small fabric."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utility import TrialScores
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.tuners.tuned import named_transport
from lcca.workers.pool import Threads

from .utility_conformance import UtilityConformance

STAR = {"kind": "star", "hosts": 5}
INCAST = {"kind": "incast", "senders": 4, "sizes": "uniform:50000:90000", "load": 0.1}


class FabricUtilityConformance(UtilityConformance):
    """The questions.

    Attributes:
        wanted: the utility.
        workload: of the fabric.
        more: keys of the scenario.
        networks: seeds in their place.
    """

    wanted: Ratio
    workload: ClassVar[dict[str, object]] = INCAST
    more: ClassVar[dict[str, object]] = {}
    networks: Sequence[Network] = range(1, 5)  # type: ignore[assignment]
    good: Policy = named_transport("dctcp-window@step:k_bytes=20000")
    bad: Policy = named_transport("window:bdps=8")

    def scores(self, policies: Sequence[Policy], networks: Sequence[Network], jobs: int = 1) -> TrialScores:
        keys = {"name": "star", "topology": STAR, "workload": self.workload, "duration_us": 200, "drain_us": 300}
        scenario = FabricScenario.model_validate(keys | self.more)
        engines = {str(i): engine_of(policy, scenario.settings()) for i, policy in enumerate(policies)}
        trials = run_fabric_trials(scenario, engines, list(networks), Threads(jobs))
        order = sorted(trials, key=lambda each: int(each.policy))  # stable: by seed within a policy
        found = np.array([each.score(self.wanted) for each in order])
        return TrialScores(found, np.zeros(len(found), dtype=np.int64), np.ones(len(found), dtype=np.int64))
