"""What the commands that run policies on networks share: their options, and what these name."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lcca.cli.options.common import add_jobs, add_json, positive
from lcca.cli.options.policies import (
    add_policy_options,
    add_topology,
    add_trial_options,
    check_duration,
    engine_for,
    load_policy,
    policy_to_run,
)
from lcca.cli.options.simulators import add_ns3_options, add_simulator_options
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.stretches import stretches
from lcca.evaluation.trials.blocks import Block, InBlocks
from lcca.evaluation.trials.utilities import utility
from lcca.evaluation.trials.utility import Utility
from lcca.experiments.campaign.config import require
from lcca.experiments.schemas.kinds import read_kind
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.policy import Policy


@dataclass(frozen=True)
class Setup:
    """What a command runs.

    Attributes:
        policies: in the order in which they were named, with the headers that their files name.
        engine: the fast engine with the model that the options or the policies ask for.
        utility: scores a trial.
    """

    policies: tuple[Policy, ...]
    engine: Engine
    utility: Utility


def add_trials(parser: argparse.ArgumentParser, duration: float | None, both_simulators: bool = False) -> None:
    """Add the options of all commands that run policies; a duration of None is that of the space."""
    add_trial_options(parser, duration)
    add_policy_options(parser)
    add_topology(parser)
    (add_ns3_options if both_simulators else add_simulator_options)(parser)
    add_jobs(parser)
    add_json(parser)


def add_space(parser: argparse.ArgumentParser) -> None:
    """Add the network space."""
    parser.add_argument("--space", type=Path, required=True, help="YAML file of the network space")


def add_bound(parser: argparse.ArgumentParser) -> None:
    """Add what asks for ideals beside scores."""
    parser.add_argument("--bound", action="store_true", help="say too what is possible on these networks (lcca bound)")


def add_rule(parser: argparse.ArgumentParser, unit: str, over: str) -> None:
    """Add the block between two looks, the margin, the error rate `over` something, and when to stop."""
    parser.add_argument(
        "--block",
        type=positive,
        help=f"{unit} run before the next decision whether to stop, in whole blocks of the space (default: four, in "
        "ns-3 one)",
    )
    parser.add_argument(
        "--stop",
        choices=("accurate", "settled"),
        default="accurate",
        help="stop when the difference is known to an eighth of the margin (default), or as soon as it is settled, "
        "before rare events may have been met",
    )
    parser.add_argument(
        "--margin-percent", type=float, default=3.0, help="throughput-equivalent %% that does not matter"
    )
    parser.add_argument("--alpha", type=float, default=0.05, help=f"error rate {over} (default: %(default)s)")


FIRST_LOOK: int = Rule.model_fields["first_look"].default


def rule_of(
    options: argparse.Namespace,
    kind: Callable[..., Rule],
    option: str,
    most: int,
    space: InBlocks,
    first_look: int = FIRST_LOOK,
) -> Rule:
    """Return the rule of this kind that the options ask for.

    Args:
        options: margin and α.
        kind: of the rule.
        option: says how many networks there are at most.
        most: how many these are.
        space: its blocks are the units.
        first_look: blocks before anything is said.
    """
    require(0 < options.margin_percent < 1000, f"--margin-percent: must be > 0, got {options.margin_percent:g}")
    require(0 < options.alpha < 1, f"--alpha: must be between 0 and 1, got {options.alpha:g}")
    least = first_look * space.block
    require(most >= least, f"{option}: at least {least} are needed for a first look, got {most}")
    ceiling = space.whole(most) // space.block
    return kind(margin_percent=options.margin_percent, alpha=options.alpha, ceiling=ceiling, first_look=first_look)


def plan_of(options: argparse.Namespace, rule: Rule, most: int, space: InBlocks) -> Iterator[Block]:
    """Return the stretches of networks between two decisions whether to go on, all of whole blocks."""
    usual = space.block * (1 if options.simulator == "ns3" else 4)
    return stretches(rule, space.block, space.block * -(-(options.block or usual) // space.block), space.whole(most))


def stops_when_settled(options: argparse.Namespace) -> bool:
    """Tell whether a run stops as soon as all is settled, rather than when it is known accurately."""
    return bool(options.stop == "settled")


def stopped_early(trials: int, unit: str = "networks") -> str:
    """Return what a reader must know of a run that stopped as soon as all was settled.

    What happens in one network in k is met by n of them with a probability of 1 − (1 − 1/k)ⁿ: 95 % at k = n/3.
    """
    rare = trials // 3
    return f"stopped as soon as settled, at {trials} {unit}: what happens on fewer than one in {rare} may be missing"


def setup(options: argparse.Namespace, names: Sequence[str], duration: float) -> Setup:
    """Return what a command runs: the policies of these names for a duration in µs."""
    files = [load_policy(options, name) for name in names]
    policies = tuple(policy_to_run(options, file) for file in files)
    return Setup(policies, engine_for(options, files, duration), utility(options.utility))


def space_of(options: argparse.Namespace) -> NetworkSpace:
    """Return the space that the options name, with the topology that they name."""
    space = read_kind(options.space, NetworkSpace)
    return space.model_copy(update={"topology": options.topology}) if options.topology else space


def setup_on_space(options: argparse.Namespace, names: Sequence[str]) -> tuple[Setup, NetworkSpace]:
    """Return what a command runs, and the space that it draws networks from.

    Raises:
        InputError: a policy or the space cannot be read, or no packet could arrive within the duration.
    """
    space = space_of(options)
    found = setup(options, names, space.duration if options.duration is None else options.duration)
    hops = space.topology.hops(int(space.senders.max))
    check_duration(found.engine.duration, space.rtt.max, space.link_rate.min, hops)
    return found, space
