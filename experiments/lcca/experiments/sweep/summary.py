"""summary.json and verdicts.json: what a run found. No times, hosts or paths, so equal runs give equal bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.sets import BEST_OF, best_of, best_of_difference
from lcca.evaluation.fabric.metrics import FLOW_COLUMNS, PORT_COLUMNS
from lcca.evaluation.settling.units import mean_of_blocks
from lcca.evaluation.trials.layout import MEASURES
from lcca.evaluation.trials.running import common_scores
from lcca.experiments.runs.version import version
from lcca.experiments.sweep.capacity import capacity_content
from lcca.experiments.sweep.designed import against_learnt
from lcca.experiments.sweep.groups import Group
from lcca.experiments.sweep.ideal import ideals
from lcca.experiments.sweep.net_benefit import benefits_content, compare_all
from lcca.inputs.json_values import finite

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.sweep.selection import Chosen

MEANS = (*MEASURES, "rtt_p50_us", "rtt_p99_us", *FLOW_COLUMNS, *PORT_COLUMNS)
"""Columns of trials of which the mean is told, where they have them."""

COUNTS = ("starved", "stalled_flows")
"""Columns of which the sum is told."""


def all_comparisons(groups: Sequence[Group], trials: dict[str, pd.DataFrame]) -> list[Comparison]:
    """Return every comparison of a campaign, α of the adjusted verdicts shared among all of one level."""
    total = sum(len(group.compared) for group in groups)
    selected = [c for group in groups for c in group.compare_selected(trials[group.utility.name], total)]
    return [*compare_all(groups), *selected]


def summary(
    config: CampaignConfig, groups: Sequence[Group], trials: dict[str, pd.DataFrame], found: list[Comparison]
) -> dict[str, Any]:
    """Return the content of summary.json."""
    content = _over_seeds(config, groups, found) | {
        "block": config.networks.block,
        "policies": [
            _policy(chosen, trials[group.utility.name], group) for group in groups for chosen in group.policies
        ],
    }
    if possible := ideals(config, groups, trials):
        content["ideal"] = possible
    if by_hand := against_learnt(groups, trials):
        content["hand_designed"] = by_hand
    return content | _headers(config, groups, trials)


def so_far(config: CampaignConfig, groups: Sequence[Group]) -> dict[str, Any]:
    """Return the content of so-far.json: what the training seeds that are done say of signal sets and headers."""
    return _over_seeds(config, groups, compare_all(groups)) | _headers(config, groups, None)


def _headers(
    config: CampaignConfig, groups: Sequence[Group], trials: Mapping[str, pd.DataFrame] | None
) -> dict[str, Any]:
    if all(c.header is None for c in config.candidates):
        return {}
    return {"net_benefit": benefits_content(groups, trials, config)}


def _over_seeds(config: CampaignConfig, groups: Sequence[Group], found: list[Comparison]) -> dict[str, Any]:
    content = {
        "format": 1,
        "campaign": config.name,
        "config_hash": config.hash,
        "version": version(),
        "signal_sets": [row for group in groups for row in _sets(group)],
        "comparisons": [c.to_json() for c in found],
    }
    if rows := capacity_content(groups):
        content["capacity"] = rows
    return content


def verdicts(found: list[Comparison]) -> dict[str, Any]:
    """Return the content of verdicts.json: the comparisons with every look."""
    return {"format": 1, "comparisons": [c.to_json(history=True) for c in found]}


def _sets(group: Group) -> list[dict[str, Any]]:
    """Return a row per candidate: what its trainings score, each on the networks of its training seed."""
    base, rows = group.by_seed(group.baseline), []
    for name in (group.baseline, *group.others):
        own = group.by_seed(name)
        seeds, scores = sorted(own), [own[seed] for seed in sorted(own)]
        difference, error = best_of_difference([base[seed] for seed in seeds], scores)
        rows.append(
            {
                "name": name,
                "utility": group.utility.name,
                "training_seeds": seeds,
                "score_bits": float(np.mean(scores)),
                "score_bits_sd": finite(float(np.std(scores, ddof=1))) if len(scores) > 1 else None,
                "scores_bits": scores,
                "best_of": BEST_OF,
                "best_of_score_bits": finite(best_of(scores)),
                "best_of_difference_bits": finite(difference),
                "best_of_difference_bits_se": finite(error),
            }
        )
    return rows


def _policy(chosen: Chosen, trials: pd.DataFrame, group: Group) -> dict[str, Any]:
    """Return a policy's row: `trained` on the networks of its training seed, `test` on those of selected policies."""
    learner, selected = chosen.learner, group.selected[chosen.learner.signals.name] is chosen
    return {
        "id": learner.id,
        "signal_set": learner.signals.name,
        "utility": learner.utility.name,
        "training_seed": learner.training_seed,
        "selected": selected,
        "checkpoint": chosen.checkpoint,
        "rules": chosen.rules,
        "validation_score_bits": chosen.validation_score_bits,
        "trained": test_summary(group.trained[group.trained["policy"] == learner.id]),
        "test": _tested(trials, learner.id, group.block) if selected else None,
    }


def _tested(trials: pd.DataFrame, policy: str, block: int) -> dict[str, Any]:
    """Return a selected policy's summary; its score is that of its comparisons, so that differences add up."""
    score = mean_of_blocks(common_scores(trials)[policy], block)
    return test_summary(trials[trials["policy"] == policy]) | {"score_bits": finite(score)}


def test_summary(rows: pd.DataFrame) -> dict[str, Any]:
    """Return means over networks with standard errors; null where nothing was measured."""
    good = rows[rows["status"] == "ok"]
    out: dict[str, Any] = {"trials": len(rows), "failed": len(rows) - len(good)}
    for name in (name for name in MEANS if name in good):
        values = good[name].dropna()
        out[name] = finite(values.mean())
        out[f"{name}_se"] = finite(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    return out | {name: int(good[name].sum()) for name in COUNTS if name in good}
