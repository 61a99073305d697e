"""`lcca adopt`: does adopting a policy beside another one pay, and what does it cost who does not?"""

from __future__ import annotations

import argparse
from typing import Any

from lcca.cli.options.common import positive, print_json
from lcca.cli.options.trials import (
    POLICY_HELP,
    add_folder,
    add_place,
    add_settling,
    place_of,
    report_failures,
    run_or_plan,
    settling_of,
)
from lcca.experiments.defaults import ADOPTED
from lcca.inputs.names import one_name

EXAMPLES = """\
  lcca adopt fair-rate aimd --on configs/networks/default.yaml
  lcca adopt 'flows.s{1,2,3,4,5}.json' 'e2e.s{1,2,3,4,5}.json' --on configs/networks/default.yaml --share 0.1,0.5
  lcca adopt hpcc dcqcn --on configs/fabric/leaf-spine.yaml --out adoption"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    several = "its trainings in braces, and what is said holds over trainings"
    parser.add_argument("adopted", type=one_name, help=f"what some senders adopt; {several}: {POLICY_HELP}")
    parser.add_argument("other", type=one_name, help="what all others have, likewise")
    add_place(parser)
    parser.add_argument(
        "--share", type=shares, default="0.1,0.25,0.5,0.75", help="of senders that adopt (default: 0.1,0.25,0.5,0.75)"
    )
    usual = f"{ADOPTED['engine']}, in ns-3 {ADOPTED['ns3']}, on a fabric {ADOPTED['fabric']}"
    parser.add_argument("--trials", type=positive, help=f"of each share, of each training (default: {usual})")
    add_settling(parser, "of all verdicts together")
    add_folder(parser)
    parser.set_defaults(run=run)


def shares(text: str) -> list[float]:
    """Parse shares such as 0.1,0.5."""
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text[:40]}: must be shares such as 0.1,0.5") from None


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    from lcca.experiments.recipes.adopt import adopting

    wanted = place_of(options) | settling_of(options)
    prepared = adopting(
        options.adopted, options.other, options.on, shares=options.share, trials=options.trials, **wanted
    )
    if (result := run_or_plan(options, prepared)) is None:
        return 0
    if options.json:
        print_json(result.content)
    else:
        _print(result.content)
    return report_failures(list(result.rows["error"]))


def _print(content: dict[str, Any]) -> None:
    from lcca.cli.printing.console import print_table, wide_console
    from lcca.evaluation.report.sections.adoption import adoption_table

    print_table(adoption_table(content))
    for each in content["adoption"]:
        wide_console().print(f"{100 * each['share']:g} %: {each['says']}", markup=False)
