"""Two policies, paired on fresh trials, until it is settled which is better."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from lcca.evaluation.bounds.gap import gap_content
from lcca.evaluation.bounds.summary import beside_ideals, ideal_summary
from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.ranking import mean_interval
from lcca.evaluation.trials.running import mean_scores
from lcca.evaluation.trials.source import keeping_phases
from lcca.experiments.defaults import COMPARED
from lcca.experiments.experiment import Experiment, Found, Pair
from lcca.experiments.places import On, Options, meet, require_options
from lcca.experiments.recipes.prepared import Prepared, Result, asked
from lcca.experiments.recipes.rules import Settling, stop_of, stopped_early
from lcca.experiments.runs.kinds import COMPARE
from lcca.inputs.errors import require
from lcca.inputs.json_values import interval
from lcca.inputs.studies import attribute, variants_of
from lcca.signal_sets.load import each_of


class Wanted(Options, Settling, total=False):
    """Options of a comparison."""


def compare(
    a: str,
    b: str,
    on: On,
    *,
    shares: Sequence[float] = (),
    trials: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    quiet: bool = True,
    **wanted: Unpack[Wanted],
) -> Result:
    """Compare policy `b` with the baseline `a` on the same trials until it is settled which is better.

    Args:
        a: the baseline: a hand-designed congestion control, a file of a policy, a class in Python, a transport.
        b: the candidate, likewise.
        on: where they meet; see `lcca.experiments.places`.
        shares: of senders that adopt `b` beside `a`, if that is the question: what they gain and others pay.
        trials: of each at most.
        out: folder that keeps every trial.
        resume: whether to go on with the run that is there.
        quiet: whether to leave progress out.
        wanted: see `Options` and `Settling`.

    Raises:
        InputError: something cannot be read or run, or the folder is not free.
    """
    if shares:
        others = [attribute(study, each.prepared) for study, each in variants_of("compare") if each.keyword == "shares"]
        require(bool(others), "shares: needs the study of adoption")
        prepared: Prepared = others[0](a, b, on, shares=shares, trials=trials, **wanted)
    else:
        prepared = comparing(a, b, on, trials=trials, **wanted)
    return prepared.run(out, resume=resume, quiet=quiet)


def comparing(
    a: str, b: str, on: On, *, trials: int | None = None, bound: bool = False, **wanted: Unpack[Wanted]
) -> Prepared:
    """Return the comparison, ready to run; `bound` adds what is possible on its networks, and where bits go."""
    require_options(wanted, Wanted)
    names = each_of([a, b])
    require(len(names) == 2, f"{len(names)} policies: a comparison takes two; lcca rank takes any number")
    meeting = meet(names, on, "compare", wanted)
    meeting = replace(meeting, place=keeping_phases(meeting.place)) if bound else meeting
    place, most = meeting.place, meeting.most(trials, COMPARED)
    rule, stop = stop_of(meeting, most, wanted, "t-mixture", "--trials")
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
    options = {"trials": most, "step": stop.step, "stop": stop.when, "bound": bound, "rule": rule.model_dump()}
    config = asked(COMPARE, names, on, meeting, wanted.get("seed", 1), options)
    return Prepared(experiment, meeting, config, content)
