"""summary.json and verdicts.json: what a run found. No times, hosts or paths, so equal runs give equal bytes."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.ebh import with_discoveries
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.runs.version import version
from lcca.experiments.sweep.contest import Contest, compare_champions, compare_signal_sets
from lcca.experiments.sweep.net_benefit import worth_content
from lcca.experiments.sweep.selection import Chosen

MEASURES = (
    "score_bits",
    "throughput_share",
    "throughput_over_link",
    "delay_us",
    "delay_over_rtt",
    "fairness",
    "loss_fraction",
    "utilisation",
    "queue_mean_packets",
    "rtt_p50_us",
    "rtt_p99_us",
)


def all_comparisons(
    config: CampaignConfig, contests: list[Contest], trials: dict[str, pd.DataFrame]
) -> list[Comparison]:
    """Return every comparison of a campaign, α of the adjusted verdicts shared among all of one level."""
    total = len(contests) * (len(config.candidates) - 1)
    found: list[Comparison] = []
    for contest in contests:
        tested = trials[contest.utility.name]
        found += compare_champions(config, contest, tested, max(total, 1))
        found += compare_signal_sets(config, contest, tested, max(total, 1))
    return with_discoveries(found)


def summary(
    config: CampaignConfig, contests: list[Contest], trials: dict[str, pd.DataFrame], found: list[Comparison]
) -> dict[str, Any]:
    """Return the content of summary.json."""
    worth = worth_content(config, contests, trials)
    return {
        "format": 1,
        "campaign": config.name,
        "config_hash": config.hash,
        "version": version(),
        "policies": [
            _policy(chosen, trials[contest.utility.name], contest)
            for contest in contests
            for chosen in contest.policies
        ],
        "comparisons": [c.to_json() for c in found],
    } | ({} if worth is None else {"worth": worth})


def verdicts(found: list[Comparison]) -> dict[str, Any]:
    """Return the content of verdicts.json: the comparisons with every look."""
    return {"format": 1, "comparisons": [c.to_json(history=True) for c in found]}


def _policy(chosen: Chosen, trials: pd.DataFrame, contest: Contest) -> dict[str, Any]:
    learner = chosen.learner
    return {
        "id": learner.id,
        "signal_set": learner.signals.name,
        "utility": learner.utility.name,
        "training_seed": learner.training_seed,
        "champion": contest.champions[learner.signals.name] is chosen,
        "checkpoint": chosen.checkpoint,
        "rules": chosen.rules,
        "validation_score_bits": chosen.validation_score_bits,
        "test": test_summary(trials[trials["policy"] == learner.id]),
    }


def test_summary(rows: pd.DataFrame) -> dict[str, Any]:
    """Return means over networks with standard errors; null where nothing was measured."""
    good = rows[rows["status"] == "ok"]
    out: dict[str, Any] = {"trials": len(rows), "failed": len(rows) - len(good)}
    for name in MEASURES:
        values = good[name].dropna()
        out[name] = _number(values.mean())
        out[f"{name}_se"] = _number(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    out["starved"] = int(good["starved"].sum())
    out["stalled_flows"] = int(good["stalled_flows"].sum())
    return out


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
