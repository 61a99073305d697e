"""Two policies, paired on fresh trials, until it is settled which is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lcca.evaluation.bounds.gap import gap_content
from lcca.evaluation.bounds.summary import beside_ideals, ideal_summary
from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.ranking import mean_interval
from lcca.evaluation.trials.running import mean_scores
from lcca.evaluation.trials.source import keeping_phases
from lcca.experiments.experiment import Experiment, Found, Pair
from lcca.experiments.places import meet
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.prepared import Prepared, identity
from lcca.experiments.recipes.rules import stop_of, stopped_early
from lcca.experiments.runs.kinds import COMPARE
from lcca.experiments.verbs.meeting import COMPARED, Compare
from lcca.inputs.errors import require
from lcca.inputs.json_values import interval
from lcca.inputs.studies import attribute, variants_of
from lcca.signal_sets.load import each_of


def comparing(verb: Compare) -> Prepared:
    """Compare policy `b` with the baseline `a` on the same trials until it is settled which is better."""
    if verb.shares:
        others = [attribute(study, each.prepared) for study, each in variants_of("compare") if each.keyword == "shares"]
        require(bool(others), "shares: needs the study of adoption")
        adopting: Prepared = others[0](verb)
        return adopting
    names, bound = each_of([verb.a, verb.b]), verb.bound
    require(len(names) == 2, f"{len(names)} policies: a comparison takes two; lcca rank takes any number")
    meeting = meet(names, verb.on, verb, "compare")
    meeting = replace(meeting, place=keeping_phases(meeting.place)) if bound else meeting
    place, most = meeting.place, meeting.most(verb.trials, COMPARED)
    rule, stop = stop_of(meeting, most, verb, "t-mixture")
    one, other = meeting.contenders
    require(not bound or meeting.ideals is not None, "--bound: not on a fabric")
    if bound and meeting.ideals is not None:
        meeting.ideals(1)  # or say so before any trial

    def content(found: Found, folder: Path | None) -> Mapping[str, Any]:
        compared: Comparison = found.contents[0]
        own = mean_scores(found.rows)
        means = {name: mean_interval(each, rule.alpha, place.whole(most), place.block) for name, each in own.items()}
        content: dict[str, Any] = {
            **place.origin,
            "utility": place.utility.name,
            "policies": [{"id": name, "score_bits": interval(*each)} for name, each in means.items()],
            "note": stopped_early(found, compared.n, "networks" if meeting.ideals else "pairs"),
        }
        if bound and meeting.ideals is not None:
            scores = {name: float(each[each == each].mean()) for name, each in own.items()}
            ideals = ideal_summary(meeting.ideals(found.trials), place.block)
            content["ideal"] = [{"utility": place.utility.name, **beside_ideals(ideals, scores, one)}]
            content |= gap_content(found.rows)
        return content

    question = Pair(one, other, place.utility, rule, place.block)
    experiment = Experiment(place, meeting.contenders, [question], stop, f"comparing {other} with {one}")
    resolved = {"trials": most, "step": stop.step, "stop": stop.when, "rule": rule.model_dump()}
    config = identity(COMPARE, verb, names, verb.on, meeting, resolved)
    return Prepared(experiment, meeting, config, content)


compare = function("compare", Compare, comparing)
