"""summary.json and verdicts.json: what a run found. No times, hosts or paths, so equal runs give equal bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.ebh import with_discoveries
from lcca.evaluation.trials.layout import MEASURES
from lcca.experiments.runs.version import version
from lcca.experiments.sweep.groups import Group
from lcca.experiments.sweep.net_benefit import benefits_content
from lcca.inputs.json_values import finite

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.sweep.selection import Chosen

MEANS = (*MEASURES, "rtt_p50_us", "rtt_p99_us")


def all_comparisons(groups: Sequence[Group], trials: dict[str, pd.DataFrame]) -> list[Comparison]:
    """Return every comparison of a campaign, α of the adjusted verdicts shared among all of one level."""
    total = sum(len(group.others) for group in groups)
    found: list[Comparison] = []
    for group in groups:
        tested = trials[group.utility.name]
        found += group.compare_selected(tested, total)
        found += [group.compare_candidates(tested, name, total) for name in group.others]
    return with_discoveries(found)


def summary(
    config: CampaignConfig, groups: Sequence[Group], trials: dict[str, pd.DataFrame], found: list[Comparison]
) -> dict[str, Any]:
    """Return the content of summary.json."""
    content = {
        "format": 1,
        "campaign": config.name,
        "config_hash": config.hash,
        "version": version(),
        "policies": [
            _policy(chosen, trials[group.utility.name], group) for group in groups for chosen in group.policies
        ],
        "comparisons": [c.to_json() for c in found],
    }
    if headers := sum(c.header is not None for c in config.candidates):
        content["net_benefit"] = benefits_content(groups, trials, headers, config.packet_bytes)
    return content


def verdicts(found: list[Comparison]) -> dict[str, Any]:
    """Return the content of verdicts.json: the comparisons with every look."""
    return {"format": 1, "comparisons": [c.to_json(history=True) for c in found]}


def _policy(chosen: Chosen, trials: pd.DataFrame, group: Group) -> dict[str, Any]:
    learner = chosen.learner
    return {
        "id": learner.id,
        "signal_set": learner.signals.name,
        "utility": learner.utility.name,
        "training_seed": learner.training_seed,
        "selected": group.selected[learner.signals.name] is chosen,
        "checkpoint": chosen.checkpoint,
        "rules": chosen.rules,
        "validation_score_bits": chosen.validation_score_bits,
        "test": test_summary(trials[trials["policy"] == learner.id]),
    }


def test_summary(rows: pd.DataFrame) -> dict[str, Any]:
    """Return means over networks with standard errors; null where nothing was measured."""
    good = rows[rows["status"] == "ok"]
    out: dict[str, Any] = {"trials": len(rows), "failed": len(rows) - len(good)}
    for name in MEANS:
        values = good[name].dropna()
        out[name] = finite(values.mean())
        out[f"{name}_se"] = finite(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    out["starved"] = int(good["starved"].sum())
    out["stalled_flows"] = int(good["stalled_flows"].sum())
    return out
