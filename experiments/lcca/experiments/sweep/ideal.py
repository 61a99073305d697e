"""What is possible on a campaign's networks, beside what its signal sets and selected policies score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.bounds.summary import beside_fair_share, beside_ideals, ideal_summary
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.groups import Group
from lcca.inputs.errors import InputError

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig


def ideals(config: CampaignConfig, groups: Sequence[Group], trials: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return a row per utility for which there are ideals on the campaign's networks.

    That of `beside_ideals` on the networks of the selected policies; with several training seeds also `signal_sets`:
    means over them with header bytes free, each on networks of its own, beside the fair share on the selected
    policies' networks, which are draws of the same space.
    """
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
    found = beside_ideals(possible, scores, group.base)
    return found | over_seeds(group, found["fair_bits"])


def over_seeds(group: Group, fair: float | None) -> dict[str, Any]:
    """Return `signal_sets` beside a fair share in bits; nothing for one training seed, which is no signal set."""
    if len(group.training_seeds) < 2:
        return {}
    scores = {name: list(group.by_seed(name).values()) for name in group.selected}
    means = {name: float(np.mean(own)) if own else float("nan") for name, own in scores.items()}
    return {"signal_sets": beside_fair_share("name", fair, means, group.baseline)}
