"""What policies do on a place: means over all of its trials, nothing compared."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from lcca.evaluation.bench.source import BenchTrials
from lcca.evaluation.bounds.ideals import IDEALS
from lcca.evaluation.fabric.space import FabricTrials
from lcca.evaluation.fabric.summary import summary
from lcca.evaluation.fabric.trials import FabricTrial, positions, rows_of, trials_of
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, means, shown
from lcca.evaluation.trials.source import NetworkTrials
from lcca.experiments.experiment import Experiment, Found, Stop
from lcca.experiments.places import Meeting, On, Options, meet
from lcca.experiments.recipes.prepared import Prepared, Result, asked
from lcca.inputs.errors import about, require
from lcca.remy_plus.fabric.observation import Observation
from lcca.remy_plus.fabric.policies import engine_of
from lcca.remy_plus.network import Network

SEEDS = 10
TRIALS_KEPT, SEEDS_KEPT = 64, 4
"""Trials in a block on networks, and seeds in one on a fabric: what a kill loses at most, the same for any jobs."""


def evaluate(
    policies: Sequence[str],
    on: On,
    *,
    trials: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    quiet: bool = True,
    **wanted: Unpack[Options],
) -> Result:
    """Run policies on all networks of a list or the first ones of a space, or on seeds of a fabric.

    Args:
        policies: hand-designed congestion controls, files of policies, classes in Python, transports.
        on: where they run; see `lcca.experiments.places`.
        trials: networks; all of a list, 10 of a space unless given. On a fabric `seeds` says how many.
        out: folder that keeps every trial.
        resume: whether to go on with the run that is there.
        quiet: whether to leave progress out.
        wanted: see `Options`; `seeds` are 10 unless given.

    Raises:
        InputError: something cannot be read or run, or the folder is not free.
    """
    return evaluating(policies, on, trials=trials, **wanted).run(out, resume=resume, quiet=quiet)


def evaluating(
    policies: Sequence[str],
    on: On,
    *,
    trials: int | None = None,
    bound: bool = False,
    watched: Sequence[int] = (),
    observe_us: float | None = None,
    **wanted: Unpack[Options],
) -> Prepared:
    """Return the evaluation, ready to run.

    Args:
        policies: as of `evaluate`.
        on: as of `evaluate`.
        trials: as of `evaluate`.
        bound: whether to add what is possible on the networks.
        watched: flows of a fabric's first seed whose rates are sampled.
        observe_us: how often the first seed's links and parameters are sampled where no tuner looks.
        wanted: as of `evaluate`.
    """
    seeds = wanted.get("seeds") or SEEDS
    meeting = meet(policies, on, None, {**wanted, "seeds": seeds})
    require(not isinstance(meeting.place, BenchTrials), "evaluate: a benchmark's scores are of all together; use rank")
    require(not bound or meeting.ideals is not None, "--bound: not on a fabric")
    title = f"evaluating {', '.join(meeting.contenders)}"
    if isinstance(meeting.place, FabricTrials):
        prepared = _on_fabric(meeting, meeting.place, title, seeds, watched, observe_us)
    else:
        prepared = _on_networks(meeting, title, trials, bound)
    config = asked("evaluate", list(policies), on, meeting, wanted.get("seed", 1), {"bound": bound} | prepared[2])
    return Prepared(prepared[0], meeting, config, prepared[1], looks=False)


def _on_networks(
    meeting: Meeting, title: str, trials: int | None, bound: bool
) -> tuple[Experiment, Any, dict[str, Any]]:
    place, seeds = meeting.place, meeting.seeds
    assert isinstance(place, NetworkTrials)
    listed = getattr(meeting.space, "networks", None)
    most = place.whole(trials or (len(listed) if listed else SEEDS))
    networks = place.space.draw(place.seed, most)
    ideals = None
    if bound and meeting.ideals is not None:
        ideals = meeting.ideals(most).groupby("network")[list(IDEALS)].mean()

    def content(found: Found, _: Path | None) -> Mapping[str, Any]:
        rows = [
            {"id": policy, **_row(network, own[own["network"] == network.id])}
            for policy, own in found.rows.groupby("policy", sort=False)
            for network in networks
        ]
        if ideals is not None:
            rows = [row | ideals.loc[row["network"]].to_dict() for row in rows]
        return {**place.origin, **meeting.options, "policies": rows}

    stop = Stop(most, when="never", step=max(1, math.ceil(TRIALS_KEPT / seeds)))
    each = seeds * len(meeting.contenders)
    return Experiment(place, meeting.contenders, (), stop, title, each=each), content, {"trials": most}


def _row(network: Network, trials: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = asdict(network)
    row["network"] = row.pop("id")
    row["topology"] = str(network.topology)
    row["buffer"] = "inf" if math.isinf(network.buffer) else network.buffer
    counts = {"trials": len(trials), "failed": int((trials["status"] != "ok").sum())}
    sums = {each.name: int(trials[each.name].sum()) for each in NETWORK_TRIALS.values() if each.together == "sum"}
    return row | means(trials, shown(NETWORK_TRIALS, "evaluate")) | counts | sums


def _on_fabric(
    meeting: Meeting, place: FabricTrials, title: str, seeds: int, watched: Sequence[int], observe_us: float | None
) -> tuple[Experiment, Any, dict[str, Any]]:
    scenario, utility = place.space.scenarios[0], place.utility
    if watched:
        with about("--rates"):
            positions(scenario.flows(place.seed), watched)
    observed = {}
    if observe_us is not None:
        engines = {name: engine_of(policy, scenario.settings()) for name, policy in meeting.contenders.items()}
        observed = {name: Observation(each.tuner, observe_us) for name, each in engines.items()}
    sampled = replace(place, watched=watched, observed=observed)

    def run_trials(contenders: Mapping[str, Any], block: Block) -> pd.DataFrame:
        return rows_of(sampled.trials(contenders, block), utility)

    def content(found: Found, _: Path | None) -> Mapping[str, Any]:
        rows = summary(list(fabric_trials(found.rows, place)), utility)
        return {**place.origin, "utility": utility.name, "seeds": seeds, "policies": rows}

    stop = Stop(seeds, when="never", step=SEEDS_KEPT)
    experiment = Experiment(sampled, meeting.contenders, (), stop, f"{title} on {place.space.name}", run_trials)
    return experiment, content, {"seeds": seeds}


def fabric_trials(rows: pd.DataFrame, place: FabricTrials) -> Iterator[FabricTrial]:
    """Yield the trials that the rows of an evaluation on a fabric hold."""
    return iter(trials_of(rows, place.space.scenarios[0], place.watched))
