"""Champions on networks of another kind than those they learnt on: robustness and generalisation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.campaign.config import CampaignConfig, ElsewhereConfig
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.contest import Contest, compare_champions
from lcca.remy_plus.engine import Engine


def run_elsewhere(
    folder: RunFolder,
    contest: Contest,
    condition: ElsewhereConfig,
    engine: Engine,
    costs: Costs,
    tell: Callable[[int, list[Comparison]], None],
) -> dict[str, Any]:
    """Run all champions under a condition until their comparisons are settled or its pairs are used up.

    Headers have their bytes charged. All policies meet the same networks and traffic.

    Returns:
        What summary.json says of the condition.
    """
    config, store = folder.config, TrialStore(folder.path / "trials")
    space = condition.space(config.networks)
    there = Engine(space.duration, engine.model, engine.jobs, engine.runner)
    seed = derive(config.seed, "elsewhere", condition.name)
    policies = {c.learner.id: c.charged for c in contest.champions.values()}
    blocks: list[pd.DataFrame] = []
    found: list[Comparison] = []
    for number in count():
        first = number * config.test.block
        size = min(config.test.block, condition.pairs - first)
        if size <= 0:
            break
        part = f"elsewhere-{contest.utility.name}-{condition.name}-{number:05d}"
        if not store.has(part):
            with costs.phase("elsewhere") as cost:
                networks = space.draw(seed, size, first_id=first)
                rows = run_trials(there, policies, networks, [seed], contest.utility)
                store.add(part, rows.assign(phase="elsewhere"))
                cost.trials += len(rows)
                cost.packets += int(rows["packets_delivered"].sum())
        blocks.append(store.read(part))
        found = _comparisons(config, contest, pd.concat(blocks, ignore_index=True))
        tell(first + size, found)
        if found and all(c.verdict.settled for c in found):
            break
    return _content(contest, condition, pd.concat(blocks, ignore_index=True), found)


def _comparisons(config: CampaignConfig, contest: Contest, trials: pd.DataFrame) -> list[Comparison]:
    total = len(config.elsewhere) * (len(contest.champions) - 1)
    return compare_champions(config, contest, trials, max(total, 1))


def _content(
    contest: Contest, condition: ElsewhereConfig, trials: pd.DataFrame, found: list[Comparison]
) -> dict[str, Any]:
    return {
        "condition": condition.name,
        "utility": contest.utility.name,
        "pairs": int(trials["network"].nunique()),
        "failed": int((trials["status"] != "ok").sum()),
        "mean_score_bits": {
            name: float(score) for name, score in trials.groupby("policy")["score_bits"].mean().items()
        },
        "comparisons": [c.to_json() for c in found],
    }
