"""`lcca compare --share`: what adopters gain, and what it costs the others."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import print_json
from lcca.cli.options.running import report_failures, run_or_plan
from lcca.experiments.verbs.meeting import Compare
from lcca.inputs.errors import InputError, require
from lcca.inputs.numbers import real
from lcca.inputs.options import Option

EXAMPLES = """\
  lcca compare 'e2e.s{1,2,3,4,5}.json' 'flows.s{1,2,3,4,5}.json' --on configs/networks/default.yaml --share 0.1,0.5"""


def shares(text: str) -> list[float]:
    """Parse shares such as 0.1,0.5."""
    try:
        return [real(each) for each in text.split(",")]
    except ValueError:
        raise InputError(f"{text[:40]}: must be shares such as 0.1,0.5") from None


OPTION = Option(
    "what these shares of senders, as in 0.1,0.5, gain that adopt B beside A, and what it costs the others; A and B "
    "may be trainings in quoted braces, and verdicts then hold over trainings",
    name="--share",
    metavar="SHARES",
    read=shares,
    counts=False,
)


def run(verb: Compare, options: argparse.Namespace) -> int | None:
    """Run it; None where no share is given."""
    if not verb.shares:
        return None
    from lcca.cli.printing.console import print_table
    from lcca.studies.adoption.recipe import adopting
    from lcca.studies.adoption.report.words import adoption_table

    require(not verb.bound, "--bound: not with --share")
    if (result := run_or_plan(adopting(verb), verb, options)) is None:
        return 0
    if options.json:
        print_json(result.content)
    else:
        print_table(adoption_table(result.content))
        for each in result.content["adoption"]:
            print(f"{100 * each['share']:g} %: {each['says']}")
    return report_failures(list(result.rows["error"]))
