"""What policies do on a place: means over all of its trials, nothing compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.bounds.gap import MEASURED, gap_content
from lcca.evaluation.bounds.ideals import IDEALS, ideal_scores
from lcca.evaluation.bounds.summary import ideal_summary, population_fair_bits
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.fabric.summary import summary
from lcca.evaluation.fabric.trials import FabricTrial, rows_of, trials_of
from lcca.evaluation.scenarios.networks import DrawnNetworks
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.layout import STRATUM
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, Metric, means, shown
from lcca.evaluation.trials.source import NetworkTrials, keeping_phases
from lcca.experiments.experiment import Experiment, Found, Stop
from lcca.experiments.places import Meeting, kind_of, meet, space_of
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.prepared import Prepared, identity
from lcca.experiments.runs.kinds import EVALUATE
from lcca.experiments.runs.seeds import derive
from lcca.experiments.verbs.meeting import BOUNDED, SEEDS, Evaluate, On
from lcca.inputs.errors import InputError, require
from lcca.remy_plus.network import Network
from lcca.signal_sets.load import each_of

TRIALS_KEPT, SEEDS_KEPT = 64, 4
"""Trials in a block on networks, and seeds in one on a fabric: what a kill loses at most, the same for any jobs."""


def evaluating(verb: Evaluate) -> Prepared:
    """Run policies on all networks of a list or the first ones of a space, or on seeds of a fabric."""
    space, bound = space_of(verb.on, verb.overrides), verb.bound
    require(kind_of(space) is None, "evaluate: this place scores all policies together; use rank")
    if not isinstance(space, FabricSpace):
        verb = replace(verb, seeds=verb.seeds or SEEDS)
    meeting = meet(policies := each_of(verb.policies), space, verb, None)
    require(not bound or meeting.ideals is not None, "--bound: not on a fabric")
    meeting = replace(meeting, place=keeping_phases(meeting.place)) if bound else meeting
    title = f"evaluating {', '.join(meeting.contenders)}"
    if isinstance(meeting.place, FabricTrials):
        prepared = _on_fabric(meeting, meeting.place, title, verb.trials or SEEDS)
    else:
        prepared = _on_networks(meeting, title, verb.trials, bound)
    config = identity(EVALUATE, verb, policies, verb.on, meeting, prepared[2])
    return Prepared(prepared[0], meeting, config, prepared[1], looks=False)


evaluate = function("evaluate", Evaluate, evaluating)


def possible(
    on: On, *, trials: int | None = None, utility: str | None = None, seed: int = 1, overrides: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what is possible on the networks of a space, whatever the policy, in bits.

    Args:
        on: a network space.
        trials: how many networks are drawn, rounded up to whole blocks; 200 unless given.
        utility: that scores a trial.
        seed: of the draw.
        overrides: keys of the space's file.

    Raises:
        InputError: it is no network space, or no bound is known of its topology or the utility.
    """
    space = space_of(on, overrides)
    if not isinstance(space, DrawnNetworks):
        raise InputError(f"{on}: what is possible is known of a network space alone")
    wanted = space.utility(utility or space.usual_utility)
    own, count = derive(seed, "bound"), space.whole(trials or BOUNDED)
    scores = ideal_scores(space.draw(own, count), [own], wanted, space.duration)
    found = {"space": str(on), "utility": wanted.name, "duration_us": space.duration}
    found |= {"population_fair_bits": population_fair_bits(space, wanted)}
    return found | ideal_summary(scores, space.block if count >= space.block else 1)


def _on_networks(
    meeting: Meeting, title: str, trials: int | None, bound: bool
) -> tuple[Experiment, Any, dict[str, Any]]:
    place, seeds = meeting.place, meeting.seeds
    assert isinstance(place, NetworkTrials)
    listed = getattr(meeting.space, "networks", None)
    most = place.whole(trials or (len(listed) if listed else SEEDS))
    networks = place.space.draw(place.seed, most)
    strata = {each.id: {STRATUM: name} if (name := place.space.stratum(each.id)) else {} for each in networks}
    ideals = None
    if bound and meeting.ideals is not None:
        ideals = meeting.ideals(most).groupby("network")[list(IDEALS)].mean()

    def content(found: Found, _: Path | None) -> Mapping[str, Any]:
        metrics = [*shown(NETWORK_TRIALS, "evaluate"), *(MEASURED if bound else ())]
        rows = [
            {"id": policy, **_row(network, own[own["network"] == network.id], metrics), **strata[network.id]}
            for policy, own in found.rows.groupby("policy", sort=False)
            for network in networks
        ]
        if ideals is not None:
            rows = [row | ideals.loc[row["network"]].to_dict() for row in rows]
        return {**place.origin, **meeting.options, "policies": rows} | (gap_content(found.rows) if bound else {})

    stop = Stop(most, when="never", step=max(1, math.ceil(TRIALS_KEPT / seeds)))
    each = seeds * len(meeting.contenders)
    return Experiment(place, meeting.contenders, (), stop, title, each=each), content, {"trials": most}


def _row(network: Network, trials: pd.DataFrame, metrics: Sequence[Metric]) -> dict[str, Any]:
    row: dict[str, Any] = asdict(network)
    row["network"], _ = row.pop("id"), row.pop("stream")
    row["topology"] = str(network.topology)
    row["buffer"] = "inf" if math.isinf(network.buffer) else network.buffer
    counts = {"trials": len(trials), "failed": int((trials["status"] != "ok").sum())}
    sums = {each.name: int(trials[each.name].sum()) for each in NETWORK_TRIALS.values() if each.together == "sum"}
    return row | means(trials, metrics) | counts | sums


def _on_fabric(
    meeting: Meeting, place: FabricTrials, title: str, trials: int
) -> tuple[Experiment, Any, dict[str, Any]]:
    def run_trials(contenders: Mapping[str, Any], block: Block) -> pd.DataFrame:
        found = place.trials(contenders, block)
        return rows_of(found, place.utility).assign(network=[place.number(each) for each in found])

    def content(found: Found, _: Path | None) -> Mapping[str, Any]:
        scenario, kept = place.space.scenarios[0], fabric_trials(found.rows, place)
        if not any(len(each.started) for each in kept):
            mean = scenario.workload.count(scenario.fabric, scenario.end_ns)
            text = f"no flow starts in {trials} trials of {place.space.name}, and {mean:.2g} do in the mean of trials"
            raise InputError(f"{text}; raise duration_us, and set warmup_us below it, or ask for more trials")
        rows = summary(kept, place.utility)
        return {**place.origin, "utility": place.utility.name, "seeds": trials, "policies": rows}

    stop = Stop(trials, when="never", step=SEEDS_KEPT)
    experiment = Experiment(place, meeting.contenders, (), stop, f"{title} on {place.space.name}", run_trials)
    return experiment, content, {"trials": trials}


def fabric_trials(rows: pd.DataFrame, place: FabricTrials) -> list[FabricTrial]:
    """Return the trials that the rows of an evaluation on a fabric hold."""
    return trials_of(rows, place.space.scenarios[0])
