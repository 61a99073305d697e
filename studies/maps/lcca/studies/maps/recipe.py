"""A map: where in a space, or on a fabric, a signal set or a header is better than another one, over training seeds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lcca.evaluation.settling.judgement import judge
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, SCORE
from lcca.evaluation.trials.utility import Utility
from lcca.experiments.experiment import Costs
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.kept import Described, config_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.forecast import Cost
from lcca.experiments.summaries import Json, head
from lcca.experiments.verbs.options import WrittenAlone
from lcca.inputs.units import TARGETS
from lcca.studies.maps.config import MAP, MapConfig
from lcca.studies.maps.looks import Look
from lcca.studies.maps.regions import words
from lcca.studies.maps.survey import Survey, Surveyor, surveyor
from lcca.workers.pool import Pool, Threads

DIGITS = 6
"""Of differences of a map, after the point."""


def mapping(verb: WrittenAlone) -> Described[MapConfig]:
    """Map where in a space of networks signal sets are worth something, by a campaign's trained policies."""
    config = config_of(verb.config, MapConfig, verb.overrides)

    def begin(workers: Pool) -> Callable[[Run[MapConfig, None]], Json]:
        wanted = surveyor(config, workers)

        def work(run: Run[MapConfig, None]) -> Json:
            found = wanted.experiment().run(run.phase(MAP.name).blocks(), run.reporter)
            return content(wanted, found.contents[0])

        return work

    return Described(config, verb, begin, partial(costs, config))


map = function("map", WrittenAlone, mapping)  # the command's name


def costs(config: MapConfig, jobs: int = 1) -> Costs:
    """Return about what a map costs at most: its trials, from a few points, and its looks, from one."""
    asked = surveyor(config, Threads(jobs))
    found = asked.experiment().costs(jobs, by="points")
    return replace(found, ends={**found.ends, "and": Cost(config.looks, "looks", asked.looks_cpu_s(), 1, "looks")})


def content(asked: Surveyor, found: Survey) -> Json:
    """Return the content of summary.json."""
    config, utility = asked.config, asked.config.scored_by
    counts = [config.space.unit_of(name, dict(config.space)) for name in config.over]
    units = [TARGETS[each].name.replace("us", "µs") if each else "" for each in counts]
    trained = [each for own in config.trainings.values() for each in own.values()]
    return head(config) | {
        **asked.source.origin,
        "utility": utility.name,
        "over": [
            {"name": axis.name, "unit": unit, "logarithmic": axis.logarithmic, "levels": len(axis.levels)}
            | {"min": axis.levels[0], "max": axis.levels[-1]}
            for axis, unit in zip(config.axes, units, strict=True)
        ],
        "training_seeds": list(config.trainings),
        "trainings_without_selection": [
            each.learner.id for each in trained if each.file.parent.name == each.learner.id
        ],
        "points": found.points,
        "left_out": found.left_out,
        "margin_percent": config.margin,
        "alpha": config.error_rate,
        "maps": [_map(utility, units, asked.margin(key[2]), key, look) for key, look in found.looks.items()],
    }


def _map(utility: Utility, units: list[str], margin: float, key: tuple[str, str, str], look: Look) -> Json:
    axes, values = look.ground.axes, look.ground.values
    metric = key[2]

    def record(row: int) -> Json:
        ends = [float(each[row]) for each in (look.band.mean, look.band.low, look.band.high)]
        percents = [percent_of(metric, utility, each) for each in ends]
        verdict = judge(ends[1], ends[2], margin)
        return {
            **dict(zip(("difference", "low", "high"), (round(each, DIGITS) for each in ends), strict=True)),
            "percent": round(percents[0], DIGITS - 2),
            "percent_low": round(min(percents), DIGITS - 2),
            "percent_high": round(max(percents), DIGITS - 2),
            "verdict": verdict.name,
            "direction": verdict.direction,
        }

    everywhere = look.mixed.stop + look.ground.family.number(frozenset())
    return {
        **dict(zip(("A", "B", "metric"), key, strict=True)),
        "margin_bits": margin,
        "critical": look.band.critical,
        "lengths": list(look.lengths),
        "noise_ratio": look.ratio,
        "shares": look.shares(look.points),
        "mix_shares": look.shares(look.mixed) if len(look.ground.mix) else None,
        "overall": record(everywhere),
        "regions": [
            {"words": words(each, axes, units), "share": share, "mix_share": look.mix_share(each)} | record(row)
            for each, share, row in look.regions
        ],
        "curves": [
            {"parameter": axes[axis].name, "from": low, "to": high} | record(row)
            for axis, low, high, row in look.curves
        ],
        "points": [
            dict(zip((axis.name for axis in axes), value, strict=True)) | record(row)
            for row, value in enumerate(values.tolist())
        ],
    }


def percent_of(metric: str, utility: Utility, bits: float) -> float:
    """Return a difference in per cent: of throughput for a score, else of the metric itself, less being negative."""
    if metric == SCORE.name:
        return utility.percent(bits)
    better = (NETWORK_TRIALS | FABRIC_TRIALS)[metric].better
    return 100 * (math.exp2(bits if better == "more" else -bits) - 1)
