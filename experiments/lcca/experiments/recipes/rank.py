"""Any number of policies on the same fresh trials: who is better than whom, and how sure the ranks are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lcca.evaluation.comparison.ranking import Ranking
from lcca.evaluation.comparison.ranking import rank as ranked
from lcca.evaluation.settling.intervals import ONE_SAMPLE
from lcca.evaluation.settling.unfinished import advice
from lcca.evaluation.trials.ratio import unfinished_of
from lcca.evaluation.trials.running import mean_scores
from lcca.experiments.experiment import Answer, Experiment, Found, Trials
from lcca.experiments.places import kind_of, meet, space_of
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.prepared import Prepared, identity
from lcca.experiments.recipes.rules import stop_of, stopped_early
from lcca.experiments.runs.kinds import RANK
from lcca.experiments.verbs.meeting import RANKED, TRIAL_CACHE, Rank
from lcca.inputs.errors import require
from lcca.signal_sets.load import each_of


def ranking(verb: Rank, cached: bool = False) -> Prepared:
    """Rank policies on the same trials, until every pair is known accurately or settled."""
    policies = each_of(verb.policies)
    require(len(policies) >= 2, "a ranking needs at least two policies")
    space = space_of(verb.on, verb.overrides)
    if kind_of(space) is not None and cached:  # the usual cache of trials
        verb = replace(verb, trial_cache=verb.trial_cache or TRIAL_CACHE)
    meeting = meet(policies, space, verb, "rank")
    place, most = meeting.place, meeting.most(verb.trials, RANKED)
    usual = "group-sequential" if meeting.costs is None else "t-mixture"  # of a place that a study adds
    rule, stop = stop_of(meeting, most, verb, usual, verb.budget_s)

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
    resolved = {"trials": most, "step": stop.step, "stop": stop.when, "rule": rule.model_dump()}
    config = identity(RANK, verb, policies, verb.on, meeting, resolved)
    return Prepared(experiment, meeting, config, content, always_kept=kind_of(space) is not None)


rank = function("rank", Rank, ranking)
