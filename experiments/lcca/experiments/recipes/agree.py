"""Do the fast engine and ns-3 say the same of these policies?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from lcca.evaluation.comparison.agreement import MARGIN_BITS, agreements, order_flips
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.source import NetworkTrials
from lcca.experiments.defaults import IN_BOTH
from lcca.experiments.experiment import Experiment, Found, Stop
from lcca.experiments.places import On, Options, meet
from lcca.experiments.recipes.prepared import Prepared, Result, asked
from lcca.experiments.runs.kinds import AGREE
from lcca.inputs.errors import require
from lcca.remy_plus.engine import Engine

STEP = 10
"""Networks in a block, what a kill loses at most."""


def agree(
    policies: Sequence[str],
    on: On,
    *,
    trials: int | None = None,
    margin_bits: float = MARGIN_BITS,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    quiet: bool = True,
    **wanted: Unpack[Options],
) -> Result:
    """Run policies in the fast engine and in ns-3, on the same networks with the same seeds.

    Args:
        policies: that both can run.
        on: a network space.
        trials: networks, rounded up to whole blocks; 96 unless given.
        margin_bits: within which mean scores agree.
        out: folder that keeps every trial.
        resume: whether to go on with the run that is there.
        quiet: whether to leave progress out.
        wanted: see `Options`.

    Raises:
        InputError: something cannot be read or run, or the folder is not free.
    """
    prepared = agreeing(policies, on, trials=trials, margin_bits=margin_bits, **wanted)
    return prepared.run(out, resume=resume, quiet=quiet)


def agreeing(
    policies: Sequence[str],
    on: On,
    *,
    trials: int | None = None,
    margin_bits: float = MARGIN_BITS,
    **wanted: Unpack[Options],
) -> Prepared:
    """Return the check, ready to run."""
    require(margin_bits > 0, f"margin_bits: must be > 0, got {margin_bits:g}")
    meeting = meet(policies, on, "agree", {**wanted, "simulator": wanted.get("simulator") or "ns3"})
    place = meeting.place
    require(isinstance(place, NetworkTrials), "agree: needs a network space, which both simulators run")
    assert isinstance(place, NetworkTrials)
    ns3 = place.simulator
    engine = Engine(ns3.duration, ns3.model, ns3.jobs)  # type: ignore[attr-defined]
    for policy in meeting.contenders.values():
        engine.compile(policy)  # or say so before any trial
    topology = str(place.space.topology)
    most = place.whole(trials or IN_BOTH)
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
    options = {"trials": most, "margin_bits": margin_bits}
    config = asked(AGREE, list(policies), on, meeting, wanted.get("seed", 1), options)
    return Prepared(experiment, meeting, config, content, looks=False)


def halves(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the trials of the fast engine and those of ns-3."""
    fast, real = (each.reset_index(drop=True) for _, each in rows.groupby("simulator", sort=False))
    return fast, real
