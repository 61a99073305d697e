"""`lcca compare`: two policies, paired on fresh networks or flows of a fabric, until it is settled which is better."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import print_json
from lcca.cli.options.running import report_failures, run_or_plan
from lcca.experiments.verbs.meeting import Compare
from lcca.inputs.options import Option
from lcca.inputs.studies import attribute, variants_of

EXAMPLES = """\
  lcca compare aimd fixed-window:20 --on configs/networks/default.yaml
  lcca compare e2e.json link.json --on configs/networks/default.yaml --margin-percent 1 --json
  lcca compare dcqcn hpcc --on configs/fabric/leaf-spine.yaml --utility slowdown-short-p99 --stop settled"""


def more() -> dict[str, Option]:
    """Return the options of other questions by the same command, which studies add."""
    return {each.keyword: attribute(study, f"{each.module}:OPTION") for study, each in variants_of("compare")}


def run(verb: Compare, options: argparse.Namespace) -> int:
    for study, each in variants_of("compare"):
        if (status := attribute(study, f"{each.module}:run")(verb, options)) is not None:
            return int(status)
    from lcca.cli.printing.tables import print_comparison, print_gap, print_ideals
    from lcca.experiments.recipes.compare import comparing

    if (result := run_or_plan(comparing(verb), verb, options)) is None:
        return 0
    if options.json:
        print_json(result.content)
    else:
        print_comparison(result.content["comparisons"][0], result.content["note"])
        if verb.bound:
            print_ideals(result.content["ideal"][0], "what is possible on these networks")
            print_gap(result.rows)
    return report_failures(list(result.rows["error"]))
