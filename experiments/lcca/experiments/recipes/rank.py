"""Any number of policies on the same fresh trials: who is better than whom, and how sure the ranks are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from lcca.evaluation.comparison.ranking import Ranking
from lcca.evaluation.comparison.ranking import rank as ranked
from lcca.evaluation.settling.intervals import ONE_SAMPLE
from lcca.evaluation.settling.unfinished import advice
from lcca.evaluation.trials.ratio import unfinished_of
from lcca.evaluation.trials.running import mean_scores
from lcca.experiments.defaults import RANKED, TRIAL_CACHE
from lcca.experiments.experiment import Answer, Experiment, Found, Trials
from lcca.experiments.places import On, Options, kind_of, meet, require_options, space_of
from lcca.experiments.recipes.prepared import Prepared, Result, asked
from lcca.experiments.recipes.rules import Settling, stop_of, stopped_early
from lcca.experiments.runs.kinds import RANK
from lcca.inputs.errors import require
from lcca.signal_sets.load import each_of


class Wanted(Options, Settling, total=False):
    """Options of a ranking."""


def rank(
    policies: Sequence[str],
    on: On,
    *,
    trials: int | None = None,
    budget_s: float | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    quiet: bool = True,
    **wanted: Unpack[Wanted],
) -> Result:
    """Rank policies on the same trials, until every pair is known accurately or settled.

    Args:
        policies: two at least: hand-designed congestion controls, files of policies, classes in Python, transports.
        on: where they meet; see `lcca.experiments.places`.
        trials: of each at most.
        budget_s: seconds after which no further block begins.
        out: folder that keeps every trial.
        resume: whether to go on with the run that is there.
        quiet: whether to leave progress out.
        wanted: see `Options` and `Settling`.

    Raises:
        InputError: something cannot be read or run, or the folder is not free.
    """
    prepared = ranking(policies, on, trials=trials, budget_s=budget_s, **wanted)
    return prepared.run(out, resume=resume, quiet=quiet)


def ranking(
    policies: Sequence[str],
    on: On,
    *,
    trials: int | None = None,
    budget_s: float | None = None,
    cached: bool = False,
    **wanted: Unpack[Wanted],
) -> Prepared:
    """Return the ranking, ready to run; `cached` uses the usual cache of trials where none is named."""
    require_options(wanted, Wanted)
    policies = each_of(policies)
    require(len(policies) >= 2, "a ranking needs at least two policies")
    space = space_of(on, wanted.get("overrides", ()))
    if kind_of(space) is not None and cached and wanted.get("trial_cache") is None:
        wanted["trial_cache"] = TRIAL_CACHE
    meeting = meet(policies, space, "rank", wanted)
    place, most = meeting.place, meeting.most(trials, RANKED)
    usual = "group-sequential" if meeting.costs is None else "t-mixture"  # of a place that a study adds
    rule, stop = stop_of(meeting, most, wanted, usual, "--trials", budget_s)

    def question(trials: Trials) -> Answer:
        tuned_for = place.whole(trials.earlier[0]) if trials.earlier else None  # beforehand, not when more were given
        found = ranked(
            mean_scores(trials.rows),
            utility=place.utility,
            rule=rule,
            block=place.block,
            most=tuned_for,
            unfinished=unfinished_of(trials.rows, place.utility),
        )
        return Answer(found, found.ended, found.enough, found.comparisons)

    def content(found: Found, folder: Path | None) -> Mapping[str, Any]:
        standings: Ranking = found.contents[0]
        note = stopped_early(found, standings.networks, place.unit)
        if found.out_of_time:
            note = f"time budget used up after {standings.networks} {place.unit}"
            note += "; the same command goes on" if folder else ""
        if any(each.same == ONE_SAMPLE for each in standings.comparisons):
            note = "; ".join(filter(None, (ONE_SAMPLE, note)))
        note = "; ".join(filter(None, (advice(unfinished_of(found.rows, place.utility)), note)))
        failed = found.rows.loc[found.rows["status"] != "ok", ["policy", "network", "seed", "error"]]
        return (
            standings.to_json()
            | {**place.origin, "utility": place.utility.name, "unit": place.unit, "seeds": meeting.seeds}
            | {"failed": failed.to_dict("records"), "note": note}
        )

    title, each = f"ranking {len(meeting.contenders)} policies", len(meeting.contenders) * meeting.seeds
    experiment = Experiment(place, meeting.contenders, [question], stop, title, each=each)
    options = {"trials": most, "step": stop.step, "stop": stop.when, "rule": rule.model_dump()}
    config = asked(RANK, policies, on, meeting, wanted.get("seed", 1), options)
    return Prepared(experiment, meeting, config, content, always_kept=kind_of(space) is not None)
