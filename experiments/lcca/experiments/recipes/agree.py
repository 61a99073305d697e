"""Do the fast engine and ns-3 say the same of these policies?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.agreement import MARGIN_BITS, agreements, order_flips
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.source import NetworkTrials
from lcca.experiments.experiment import Experiment, Found, Stop
from lcca.experiments.places import meet
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.prepared import Prepared, identity
from lcca.experiments.runs.kinds import AGREE
from lcca.experiments.verbs.meeting import IN_BOTH, Agree
from lcca.inputs.errors import require
from lcca.remy_plus.engine import Engine

STEP = 10
"""Networks in a block, what a kill loses at most."""


def agreeing(verb: Agree) -> Prepared:
    """Run policies in the fast engine and in ns-3, on the same networks with the same seeds."""
    margin_bits = MARGIN_BITS if verb.margin_bits is None else verb.margin_bits
    require(margin_bits > 0, f"margin_bits: must be > 0, got {margin_bits:g}")
    meeting = meet(verb.policies, verb.on, replace(verb, simulator=verb.simulator or "ns3"), "agree")
    place = meeting.place
    require(isinstance(place, NetworkTrials), "agree: needs a network space, which both simulators run")
    assert isinstance(place, NetworkTrials)
    ns3 = place.simulator
    engine = Engine(ns3.duration, ns3.model, ns3.jobs)  # type: ignore[attr-defined]
    for policy in meeting.contenders.values():
        engine.compile(policy)  # or say so before any trial
    topology = str(place.space.topology)
    most = place.whole(verb.trials or IN_BOTH)
    both = [NetworkTrials(each, place.space, place.seed, place.seeds, place.utility) for each in (engine, ns3)]

    def run_trials(contenders: Mapping[str, Any], block: Block) -> pd.DataFrame:
        return pd.concat([each.rows(contenders, block) for each in both], ignore_index=True)

    def content(found: Found, folder: Path | None) -> Mapping[str, Any]:
        fast, real = halves(found.rows)
        failed = real[real["status"] != "ok"]
        rows, flips = agreements(fast, real, topology, margin_bits, place.block), order_flips(fast, real, place.block)
        return {
            "simulators": [engine.name, ns3.name],
            "simulator": ns3.name,
            "topology": topology,
            "failed": failed[["network", "policy", "error"]].to_dict("records"),
            "agreement": [row.to_json() for row in rows],
            "order_flips": [flip.to_json() for flip in flips],
        }

    stop = Stop(most, when="never", step=STEP)
    experiment = Experiment(place, meeting.contenders, (), stop, "running both simulators", run_trials)
    resolved = {"trials": most, "margin_bits": margin_bits}
    config = identity(AGREE, verb, verb.policies, verb.on, meeting, resolved)
    return Prepared(experiment, meeting, config, content, looks=False)


agree = function("agree", Agree, agreeing)


def halves(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the trials of the fast engine and those of ns-3."""
    fast, real = (each.reset_index(drop=True) for _, each in rows.groupby("simulator", sort=False))
    return fast, real
