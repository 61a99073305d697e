"""What is possible on a campaign's test networks, beside what its selected policies score there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.bounds.summary import beside_ideals, ideal_summary
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.groups import Group
from lcca.inputs.errors import InputError

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig


def ideals(config: CampaignConfig, groups: Sequence[Group], trials: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return a row per utility for which there are ideals on the campaign's networks; see `beside_ideals`."""
    found: list[dict[str, Any]] = []
    if not isinstance(config.networks, NetworkSpace):
        return found
    for group in groups:
        tested = trials[group.utility.name]
        try:
            row = _row(config, config.networks, group, tested)
        except InputError:  # other utilities, or a topology without bounds
            continue
        found.append({"utility": group.utility.name} | row)
    return found


def _row(config: CampaignConfig, space: NetworkSpace, group: Group, trials: pd.DataFrame) -> dict[str, Any]:
    seed = derive(config.seed, "test")
    networks = space.draw(seed, int(trials["network"].max()) + 1)
    possible = ideal_summary(ideal_scores(networks, [seed], group.utility, space.duration), space.block)
    good = trials[trials["status"] == "ok"]
    means = good.groupby("policy")["score_bits"].mean()
    scores = {c.learner.id: float(means.get(c.learner.id, float("nan"))) for c in group.selected.values()}
    scores |= {name: float(means.get(name, float("nan"))) for name in group.hand_designed}
    return beside_ideals(possible, scores, group.base)
