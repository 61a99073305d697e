"""`lcca bound`: what is possible on a network space, whatever the policy."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import add_json, natural, positive, print_json
from lcca.cli.options.trials import add_topology
from lcca.cli.printing.tables import print_ideals
from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.bounds.summary import ideal_summary, population_fair_bits
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.utilities import UTILITIES, utility
from lcca.experiments.places import check_duration, space_of
from lcca.experiments.runs.seeds import derive
from lcca.inputs.errors import InputError

EXAMPLES = """\
  lcca bound --on configs/networks/default.yaml --trials 200
  lcca bound --on configs/networks/default.yaml --trials 200 --utility 2t --json"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--on", "--space", dest="on", required=True, help="YAML file of the network space")
    parser.add_argument(
        "--trials",
        "--networks",
        dest="networks",
        type=positive,
        default=200,
        help="how many are drawn, rounded up to whole blocks (default: 200)",
    )
    parser.add_argument("--duration", type=float, help="µs of a trial (default: the space's)")
    parser.add_argument("--seed", type=natural, default=1, help="of the draw (default: %(default)s)")
    parser.add_argument("--utility", default="default", help=", ".join(UTILITIES))
    add_topology(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    space, wanted = space_of(options.on), utility(options.utility)
    if not isinstance(space, NetworkSpace):
        raise InputError(f"{options.on}: a network space is needed")
    space = space.model_copy(update={"topology": options.topology}) if options.topology else space
    duration = space.duration if options.duration is None else options.duration
    check_duration(duration, space)
    seed, count = derive(options.seed, "bound"), space.whole(options.networks)
    scores = ideal_scores(space.draw(seed, count), [seed], wanted, duration)
    found = {
        "space": options.on,
        "utility": wanted.name,
        "duration_us": duration,
        "population_fair_bits": population_fair_bits(space, wanted),
    } | ideal_summary(scores, space.block if count >= space.block else 1)
    print_json(found) if options.json else print_ideals(found, f"what is possible on {options.on}")
    return 0
