"""`lcca compare`: two policies, paired on fresh networks or flows of a fabric, until it is settled which is better."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import positive, print_json
from lcca.cli.options.trials import (
    POLICY_HELP,
    add_bound,
    add_folder,
    add_place,
    add_settling,
    place_of,
    report_failures,
    run_or_plan,
    settling_of,
)
from lcca.experiments.defaults import COMPARED
from lcca.inputs.errors import require
from lcca.inputs.names import one_name
from lcca.inputs.numbers import real

EXAMPLES = """\
  lcca compare aimd fixed-window:20 --on configs/networks/default.yaml
  lcca compare e2e.json link.json --on configs/networks/default.yaml --margin-percent 1 --json
  lcca compare dcqcn hpcc --on configs/fabric/leaf-spine.yaml --utility slowdown-short-p99 --stop settled
  lcca compare 'e2e.s{1,2,3,4,5}.json' 'flows.s{1,2,3,4,5}.json' --on configs/networks/default.yaml --share 0.1,0.5"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("a", type=one_name, help=f"the baseline: {POLICY_HELP}")
    parser.add_argument("b", type=one_name, help="the candidate, likewise")
    add_place(parser)
    usual = f"{COMPARED['engine']}, in ns-3 {COMPARED['ns3']}, on a fabric {COMPARED['fabric']}"
    parser.add_argument(
        "--share",
        type=shares,
        default=(),
        metavar="SHARES",
        help="what these shares of senders, as in 0.1,0.5, gain that adopt B beside A, and what it costs the others; A "
        "and B may be trainings in quoted braces, and verdicts then hold over trainings",
    )
    parser.add_argument("--trials", type=positive, help=f"pairs at most (default: {usual})")
    add_settling(parser, "over all looks")
    add_bound(parser)
    add_folder(parser)
    parser.set_defaults(run=run)


def shares(text: str) -> list[float]:
    """Parse shares such as 0.1,0.5."""
    try:
        return [real(each) for each in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:40]}: must be shares such as 0.1,0.5") from None


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from lcca.cli.printing.console import print_table
    from lcca.cli.printing.tables import print_comparison, print_gap, print_ideals
    from lcca.evaluation.report.words.adoption import adoption_table
    from lcca.experiments.recipes.adopt import adopting
    from lcca.experiments.recipes.compare import comparing

    both, wanted = (options.a, options.b, options.on), place_of(options) | settling_of(options)
    if options.share:
        require(not options.bound, "--bound: not with --share")
        prepared = adopting(*both, shares=options.share, trials=options.trials, **wanted)
    else:
        prepared = comparing(*both, trials=options.trials, bound=options.bound, **wanted)
    if (result := run_or_plan(options, prepared)) is None:
        return 0
    if options.json:
        print_json(result.content)
    elif options.share:
        print_table(adoption_table(result.content))
        for each in result.content["adoption"]:
            print(f"{100 * each['share']:g} %: {each['says']}")
    else:
        print_comparison(result.content["comparisons"][0], result.content["note"])
        if options.bound:
            print_ideals(result.content["ideal"][0], "what is possible on these networks")
            print_gap(result.rows)
    return report_failures(list(result.rows["error"]))
