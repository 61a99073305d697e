"""The worth of a campaign's headers, from its test trials."""

from __future__ import annotations

from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison, compare_artifacts, compare_sets
from lcca.evaluation.comparison.net_benefit import CHARGED, Choice, Worth, best_of, choose
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.sweep.contest import Contest, by_seed, scores
from lcca.experiments.sweep.selection import Chosen


def header_worth(config: CampaignConfig, contest: Contest, trials: pd.DataFrame, total: int) -> list[Worth]:
    """Return the worth of every header; `total` comparisons share α in the adjusted verdicts."""
    own = [c for c in contest.champions.values() if c.learner.candidate.header is not None]
    return [_worth(config, contest, trials, champion, total) for champion in own]


def header_choice(
    config: CampaignConfig, contest: Contest, trials: pd.DataFrame, rows: list[Worth]
) -> tuple[Choice, list[Comparison]]:
    """Return which header to take, and the comparisons of the others (B) with the best one (A)."""
    best = best_of(rows)
    others = [row for row in rows if best is not None and row.header != best.header]
    rivals = [(row, _paired(config, contest, trials, best.net.B, row.net.B, len(others))) for row in others if best]
    return choose(contest.utility.name, rows, rivals), [found for _, found in rivals]


def worth_content(
    config: CampaignConfig, contests: list[Contest], trials: dict[str, pd.DataFrame]
) -> dict[str, Any] | None:
    """Return what summary.json says of headers; None for a campaign without any."""
    if not config.headers:
        return None
    total = len(contests) * sum(c.header is not None for c in config.candidates)
    rows, choices = [], []
    for contest in contests:
        tested = trials[contest.utility.name]
        own = header_worth(config, contest, tested, total)
        choice, rivals = header_choice(config, contest, tested, own)
        rows += [row.to_json() for row in own]
        choices.append({**vars(choice), "front": list(choice.front), "rivals": [each.to_json() for each in rivals]})
    return {"baseline": config.baseline, "packet_bytes": config.packet_bytes, "rows": rows, "choices": choices}


def _worth(config: CampaignConfig, contest: Contest, trials: pd.DataFrame, champion: Chosen, total: int) -> Worth:
    candidate, base = champion.learner.candidate, contest.champions[config.baseline].learner.id
    free, charged = champion.learner.id, champion.learner.id + (CHARGED if candidate.costs else "")
    gross = _paired(config, contest, trials, base, free, total)
    gross_set = _over_seeds(config, contest, trials, candidate.name, "", total)
    return Worth(
        header=candidate.name,
        title=candidate.signals.title,
        utility=contest.utility.name,
        wire_bytes=candidate.wire_bytes,
        reflected_bytes=candidate.reflected_bytes,
        packet_bytes=candidate.packet_bytes,
        gross=gross,
        cost=_paired(config, contest, trials, free, charged, total) if candidate.costs else None,
        net=_paired(config, contest, trials, base, charged, total) if candidate.costs else gross,
        gross_set=gross_set,
        net_set=_over_seeds(config, contest, trials, candidate.name, CHARGED, total) if candidate.costs else gross_set,
    )


def _paired(config: CampaignConfig, contest: Contest, trials: pd.DataFrame, a: str, b: str, total: int) -> Comparison:
    return compare_artifacts(
        a,
        b,
        scores(trials, a),
        scores(trials, b),
        utility=contest.utility,
        rule=config.rule,
        comparisons=max(total, 1),
    )


def _over_seeds(
    config: CampaignConfig, contest: Contest, trials: pd.DataFrame, name: str, ending: str, total: int
) -> Comparison:
    return compare_sets(
        config.baseline,
        name + ending,
        by_seed(contest, trials)[config.baseline],
        by_seed(contest, trials, ending)[name],
        utility=contest.utility,
        rule=config.rule,
        comparisons=max(total, 1),
    )
