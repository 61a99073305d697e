"""Questions about contenders on fabric scenarios, each with its verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.evaluation.trials.utility import unfinished_columns
from lcca.experiments.experiment import Costs, Experiment, Pair, Stop
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.kept import Described, config_of
from lcca.experiments.recipes.tune import search_costs
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.seeds import derive
from lcca.experiments.studies.config import StudyConfig, learner_of
from lcca.experiments.studies.questions import BITS, Planned, agreement
from lcca.experiments.studies.words import answers_text
from lcca.experiments.summaries import Json, compared, head, measured
from lcca.experiments.tuning.search import require_installed, search_in
from lcca.experiments.verbs.options import WrittenAlone
from lcca.inputs.files import write_with_digest
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.load import resolve
from lcca.workers.pool import Pool, Threads


def studying(verb: WrittenAlone) -> Described[StudyConfig]:
    """Answer the questions of a study: contenders first, then scenario by scenario until comparisons are settled."""
    config = config_of(verb.config, StudyConfig, verb.overrides)

    def begin(workers: Pool) -> Callable[[Run[StudyConfig, None]], Json]:
        return partial(_answered, workers=workers, quiet=verb.quiet)

    return Described(config, verb, begin, partial(costs, config), partial(_require_scored, config))


study = function("study", WrittenAlone, studying)


def _require_scored(config: StudyConfig) -> None:
    """Check, before hours are spent, that first trials have flows that count for every question."""
    for scenario, utility in sorted({(each.scenario, each.utility) for each in config.planned}):
        trials_on(config, scenario, fabric_utility(utility), Threads(1)).require_scored()


def _answered(run: Run[StudyConfig, None], workers: Pool, quiet: bool) -> Json:
    config = run.config
    run.folder.set_state("contenders")
    _require_installed(config)
    ready = {name: _ready(run, name, workers, quiet) for name in config.contenders}
    run.folder.set_state("testing")
    policies, comparisons = list[Json](), list[Json]()
    for scenario in (each.name for each in config.scenarios):
        met = {name: ready[name][0] for name in config.on(scenario)}
        keep = run.phase(layout.SCENARIO).blocks(scenario)
        found = experiment(config, scenario, met, workers).run(keep, run.reporter)
        policies += measured(found.rows, met, scenario)
        comparisons += _answers(config.planned_on(scenario), found.contents)
    order = {each.name: i for i, each in enumerate(config.questions)}
    asked = ("name", "figure", "asks", "theirs", "expected")
    summary = head(config) | {
        "source": config.source,
        "alpha": config.settle.alpha,
        "margin_percent": config.settle.margin_percent,
        "contenders": {name: origin for name, (_, origin) in ready.items()},
        "questions": [{key: getattr(each, key) for key in asked} for each in config.questions],
        "comparisons": sorted(comparisons, key=lambda each: order[each["question"]]),
        "policies": policies,
    }
    write_with_digest(run.path / layout.ANSWERS, answers_text(summary).encode())
    return summary


def trials_on(config: StudyConfig, scenario: str, utility: Ratio, workers: Pool) -> FabricTrials:
    """Return the numbered trials of a scenario."""
    return config.space(scenario).trials(derive(config.seed, "study", scenario), utility, Execution.on(workers))


def experiment(config: StudyConfig, scenario: str, policies: Mapping[str, Policy], workers: Pool) -> Experiment:
    """Return the experiment on a scenario, whose questions are the comparisons planned there."""
    planned, rule = config.planned_on(scenario), config.rule
    utilities = {each.utility: fabric_utility(each.utility) for each in planned}
    place = trials_on(config, scenario, next(iter(utilities.values())), workers)
    questions = [
        Pair(each.baseline, each.question.contender, utilities[each.utility], rule, place.block, each.utility + BITS)
        for each in planned
    ]
    stop = Stop(config.pairs, when=config.stop, step=config.block, rule=rule)
    run_trials = partial(scored, place, tuple(utilities))
    return Experiment(place, policies, questions, stop, f"testing on {scenario}", run_trials)


def scored(
    source: FabricTrials, utilities: Sequence[str], policies: Mapping[str, Policy], block: Block
) -> pd.DataFrame:
    """Return a row per policy and trial with its metrics, and its score by every utility in ``<utility>_bits``."""
    rows = []
    for each in source.trials(policies, block):
        row: dict[str, Any] = each.row(source.utility) | {"network": source.number(each)}
        for name in utilities:
            row |= each.scored(fabric_utility(name), name + BITS)
        rows.append(row)
    table = pd.DataFrame(rows).drop(columns=["score_bits", *unfinished_columns("score_bits")])
    return table.assign(scenario=source.space.name, simulator="fabric", status="ok", error="")


def _answers(planned: Sequence[Planned], found: Sequence[Comparison]) -> list[Json]:
    """Return comparisons with the question that each belongs to, and whether its source found the same."""
    return [
        {
            "question": each.question.name,
            "expected": each.question.expected,
            "agreement": agreement(comparison.stated, each.question.expected),
            **compared([comparison], layout.SCENARIO, each.scenario)[0],
        }
        for each, comparison in zip(planned, found, strict=True)
    ]


def costs(config: StudyConfig, jobs: int = 1) -> tuple[list[Json], dict[str, Costs]]:
    """Return what every scenario costs, from one trial of every contender; what a tuning finds counts as its start.

    Returns:
        A record per scenario: the number of contenders and of comparisons, `trial_cpu_s` of one trial of all
        contenders, and `least` and `most` trials of each, until the first look and the end, with their CPU seconds.
        And by contender what its tuning costs at most, or its training.

    Raises:
        InputError: what a training needs is not installed.
    """
    made = dict[str, Costs]()
    for name, each in config.contenders.items():
        if each.tune is not None:
            made[name] = search_costs(each.tune, jobs)
        elif each.train is not None:
            made[name] = Costs({"training": learner_of(each.train).cost(each.train)})
    return [_cost(config, each.name) for each in config.scenarios], made


def _cost(config: StudyConfig, scenario: str) -> Json:
    policies = {name: resolve(config.contenders[name].start, "fabric").policy for name in config.on(scenario)}
    asked = experiment(config, scenario, policies, Threads(1))
    began = time.process_time()
    asked.place.rows(policies, Block(0, 0, 1))
    spent = round(time.process_time() - began, 3)
    most = asked.place.whole(config.pairs)
    least = config.rule.looks_until(most // asked.place.block)[0] * asked.place.block
    return {
        "scenario": scenario,
        "contenders": len(policies),
        "comparisons": len(asked.questions),
        "trial_cpu_s": spent,
        "least": least,
        "most": most,
        "cpu_s_least": spent * least,
        "cpu_s_most": spent * most,
    }


def _require_installed(config: StudyConfig) -> None:
    """Check that what contenders need is installed, before any is tuned."""
    for each in config.contenders.values():
        if each.tune is not None:
            require_installed(each.tune)
        if each.train is not None:
            learner_of(each.train).require()


def _ready(run: Run[StudyConfig, None], name: str, workers: Pool, quiet: bool) -> tuple[Policy, Json]:
    """Return what a contender runs, tuned or trained if it needs that, and what it was found from, for reports."""
    contender, folder = run.config.contenders[name], run.path / layout.CONTENDERS / name
    if (tune := contender.tune) is not None and tune.fabric is not None:
        found = search_in(tune, folder, workers=workers, quiet=quiet)
        parameters = {"tuned": dict(found.best.params), "default": dict(found.candidates[0].params)}
        return found.policy, {"policy": contender.start, **parameters, "tuned_on": FabricSpace(fabric=tune.fabric).name}
    if (train := contender.train) is not None:
        return learner_of(train).train(train, folder, quiet)
    return resolve(contender.policy, "fabric").policy, {"policy": contender.policy}
