"""Running a study: contenders first, then scenario by scenario until its comparisons are settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.fabric.space import SEEDS, FabricTrials
from lcca.evaluation.fabric.trials import require_scored
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.paired import Paired
from lcca.experiments.runs.seeds import derive
from lcca.experiments.runs.version import version
from lcca.experiments.study.answers import BITS, answer, compared, measured
from lcca.experiments.study.config import StudyConfig
from lcca.experiments.study.contenders import Prepared, prepared
from lcca.experiments.study.questions import Planned
from lcca.experiments.study.words import answers_text
from lcca.inputs.files import write_with_digest
from lcca.remy_plus.policies.policy import Policy


def study(config: StudyConfig, path: Path, *, jobs: int, resume: bool, quiet: bool = False) -> dict[str, Any]:
    """Run a study, write its summary and return it; go on where a run was stopped, if `resume`.

    Args:
        config: of the study.
        path: of the run's folder.
        jobs: threads; never changes a result.
        resume: whether a run may be there already.
        quiet: whether to leave progress out.

    Raises:
        InputError: a file cannot be used, or the folder is not free.
    """
    if not (path / layout.MANIFEST).exists():
        _require_scored(config)
    with opened(config, path, resume=resume, quiet=quiet) as run:
        if run.folder.complete:
            return run.folder.read_json(layout.SUMMARY)
        run.folder.set_state("contenders")
        ready = prepared(run, jobs)
        run.folder.set_state("testing")
        found = [_scenario(run, each.name, ready, jobs) for each in config.scenarios]
        summary = _summary(config, ready, found)
        write_with_digest(path / layout.ANSWERS, answers_text(summary).encode())
        run.folder.write_json(layout.SUMMARY, summary)
        run.folder.set_state(COMPLETE)
        return summary


def _require_scored(config: StudyConfig) -> None:
    """Check, before hours are spent, that first trials have flows that count for every question."""
    for scenario in config.scenarios:
        utilities = {each.utility for each in config.planned if each.scenario == scenario.name}
        for utility in map(fabric_utility, sorted(utilities)):
            source = trials_on(config, scenario.name, utility, 1)
            first = source.space.draw(source.seed, source.block)
            require_scored(scenario, utility, [each.seed for each in first])


def trials_on(config: StudyConfig, scenario: str, utility: Ratio, jobs: int) -> FabricTrials:
    """Return the numbered trials of a scenario."""
    return FabricTrials(config.space(scenario), derive(config.seed, "study", scenario), utility, jobs)


def scored(
    source: FabricTrials, policies: Mapping[str, Policy], block: Block, utilities: Sequence[str]
) -> pd.DataFrame:
    """Return a row per policy and trial with its metrics, and its score by every utility in ``<utility>_bits``."""
    rows = []
    for each in source.trials(policies, block):
        row: dict[str, Any] = each.row(source.utility) | {"network": (each.seed - source.seed) % SEEDS}
        rows.append(row | {name + BITS: each.score(fabric_utility(name)) for name in utilities})
    table = pd.DataFrame(rows).drop(columns="score_bits")
    return table.assign(scenario=source.space.name, simulator="fabric", status="ok", error="")


class _Scenario:
    """What was found on one scenario."""

    def __init__(self, name: str, planned: Sequence[Planned], found: Sequence[Comparison], rows: pd.DataFrame) -> None:
        self.name = name
        self.answers = [answer(*each) for each in zip(planned, found, strict=True)]
        self.rows = rows


def _scenario(run: Run[StudyConfig, None], name: str, ready: Mapping[str, Prepared], jobs: int) -> _Scenario:
    config, rule = run.config, run.config.rule
    planned = [each for each in config.planned if each.scenario == name]
    utilities = list(dict.fromkeys(each.utility for each in planned))
    source = trials_on(config, name, fabric_utility(utilities[0]), jobs)
    policies = {each: ready[each].policy for each in config.on(name)}

    def anew(block: Block) -> pd.DataFrame:
        return scored(source, policies, block, utilities)

    def compare(rows: pd.DataFrame) -> list[Comparison]:
        return [compared(each, rows, rule, source.block) for each in planned]

    test = Paired(rule, config.pairs, config.block, config.stop)
    rows, found = test.run(run, name, source, anew, compare)
    return _Scenario(name, planned, found, rows)


def _summary(config: StudyConfig, ready: Mapping[str, Prepared], found: Sequence[_Scenario]) -> dict[str, Any]:
    order = {each.name: i for i, each in enumerate(config.questions)}
    answers = [each for one in found for each in one.answers]
    asked = ("name", "figure", "asks", "theirs", "expected")
    return {
        "format": 1,
        "kind": layout.STUDY,
        "campaign": config.name,
        "source": config.source,
        "config_hash": config.hash,
        "version": version(),
        "seed": config.seed,
        "alpha": config.settle.alpha,
        "margin_percent": config.settle.margin_percent,
        "contenders": {name: dict(each.told) for name, each in ready.items()},
        "questions": [{key: getattr(each, key) for key in asked} for each in config.questions],
        "comparisons": sorted(answers, key=lambda each: order[each["question"]]),
        "scenarios": [{"name": one.name, "measured": measured(one.rows, config.on(one.name))} for one in found],
    }
