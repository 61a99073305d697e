"""Do two simulators say the same of these policies?"""

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

STEP = 10
"""Networks in a block, what a kill loses at most."""


def agreeing(verb: Agree) -> Prepared:
    """Run policies in two simulators, the engine and ns-3 unless others are named, on the same networks and seeds."""
    margin_bits = MARGIN_BITS if verb.margin_bits is None else verb.margin_bits
    require(margin_bits > 0, f"margin_bits: must be > 0, got {margin_bits:g}")
    asked = verb.simulator or "ns3"
    names = asked.split("+") if "+" in asked else ["engine", asked]
    require(len(names) == 2 and all(names), f"--simulator {asked[:60]}: two at a time, as in ns3+linux")
    meetings = [meet(verb.policies, verb.on, replace(verb, simulator=each), "agree") for each in names]
    meeting = meetings[1]
    places = [each.place for each in meetings if isinstance(each.place, NetworkTrials)]
    require(len(places) == 2, "agree: needs a network space, which both simulators run")
    place, (engine, ns3) = places[1], (each.simulator for each in places)
    require(engine.name != ns3.name, f"--simulator {asked[:60]}: the same twice")
    topology = str(place.space.topology)
    most = place.whole(verb.trials or IN_BOTH)

    def run_trials(contenders: Mapping[str, Any], block: Block) -> pd.DataFrame:
        own = [{name: each.contenders[name] for name in contenders} for each in meetings]
        return pd.concat([each.rows(has, block) for each, has in zip(places, own, strict=True)], ignore_index=True)

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
    """Return the trials of the first simulator and those of the second."""
    fast, real = (each.reset_index(drop=True) for _, each in rows.groupby("simulator", sort=False))
    return fast, real
