"""What `lcca rank` ranks: policies, and the trials that all of them meet."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcca.cli.options.simulators import simulator_for
from lcca.cli.options.trials import FIRST_LOOK, setup_on_space
from lcca.evaluation.trials.source import NetworkTrials, TrialSource
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.seeds import derive

MOST = 512


@dataclass(frozen=True)
class Contest:
    """What is ranked, and on what.

    Attributes:
        source: of the trials.
        policies: by what the table calls them.
        option: that says how many networks or seeds there may be.
        most: how many these are.
        told: what JSON says of the trials besides.
        first_look: blocks of the source before anything is said.
    """

    source: TrialSource[Any]
    policies: Mapping[str, Any]
    option: str
    most: int
    told: Mapping[str, Any]
    first_look: int = FIRST_LOOK


def contest_on_networks(options: argparse.Namespace) -> Contest:
    """Return the policies that the options name, on fresh networks of the space that they name."""
    require(not options.overrides, "--set: needs --fabric")
    options.utility = options.utility or "default"
    found, space = setup_on_space(options, options.policies)
    simulator, seed, count = simulator_for(options, found.engine), derive(options.seed, "rank"), options.seeds or 1
    seeds = [derive(seed, "run", k) for k in range(count)]
    policies = dict(zip(short_names(options.policies), found.policies, strict=True))
    source = NetworkTrials(simulator, space, seed, seeds, found.utility)
    return Contest(source, policies, "--networks", options.networks or MOST, {"seeds": count})


def short_names(names: Sequence[str]) -> list[str]:
    """Return what the table calls each policy: a file's name without folder and ending, where that is unique."""
    stems = [Path(name).stem if Path(name).is_file() else name for name in names]
    return [stem if stems.count(stem) == 1 else name for name, stem in zip(names, stems, strict=True)]
