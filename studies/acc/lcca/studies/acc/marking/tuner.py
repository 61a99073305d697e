"""ACC as a tuner of a fabric, `dcqcn@acc:model.json`: agents with one network, which no longer learns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lcca.remy_plus.switches.control import Change, Given, Seen
from lcca.remy_plus.switches.knobs import Knob, Limits
from lcca.remy_plus.tuners.kinds import TunerKind
from lcca.studies.acc.marking.model import AccModel, read_acc_model
from lcca.studies.acc.marking.ports import Agents, Ports

STREAM = 2021
"""Of the seed, for explorations."""


@dataclass
class Acc:
    """Agents with one network, which no longer learns.

    Attributes:
        model: what they have learnt.
        every_us: from look to look.
        delay_us: from a look to when ports have what was chosen.
        explore: share of random choices.
    """

    model: AccModel
    every_us: float
    delay_us: float
    explore: float = 0.0
    sketch: None = None
    _agents: Agents | None = None
    _random: np.random.Generator = field(default_factory=np.random.default_rng)

    def begin(self, given: Given) -> Change:
        """Return what ports begin with: what is best where nothing has been seen."""
        self._random = np.random.default_rng([given.seed, STREAM])
        self._agents = Agents(Ports.of(given.topology), self.model.templates, self.model.history)
        return self._choose(self._agents)

    def tune(self, seen: Seen) -> Change:
        """Return what is best after an interval."""
        assert self._agents is not None
        self._agents.see(self._agents.ports.interval(seen))
        return self._choose(self._agents)

    def _choose(self, agents: Agents) -> Change:
        best = self.model.best(agents.view)
        if not self.explore:
            return agents.choose(best)
        any_ = self._random.integers(len(self.model.templates.markers), size=len(best))
        return agents.choose(np.where(self._random.random(len(best)) < self.explore, any_, best))


_KNOBS = {
    "interval_us": Knob(50, "µs", "from look to look; as in the model's training unless given", limits=Limits(1, 1e9)),
    "delay_us": Knob(
        0,
        "µs",
        "from a look to when ports have what was chosen; as in the model's training unless given",
        limits=Limits(0, 1e9),
    ),
    "explore": Knob(
        0,
        "",
        "share of random choices: none (ours; the paper's switches go on exploring and learning)",
        limits=Limits(0, 1),
    ),
}

KIND = TunerKind(
    "Yan et al., SIGCOMM 2021, as rebuilt for PRED (Li et al., ToN 2025, section VI-C.3) and for CoPTER",
    _KNOBS,
    lambda values, model: Acc(model, values["interval_us"], values["delay_us"], values["explore"]),
    model=AccModel,
    read=read_acc_model,
    written_by="`lcca acc` wrote",
)
