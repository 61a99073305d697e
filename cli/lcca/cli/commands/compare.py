"""`lcca compare`: two policies, paired on fresh networks or flows of a fabric, until it is settled which is better."""

from __future__ import annotations

import argparse
from importlib import import_module
from types import ModuleType

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
from lcca.inputs.names import one_name
from lcca.inputs.studies import full_name, variants_of

EXAMPLES = """\
  lcca compare aimd fixed-window:20 --on configs/networks/default.yaml
  lcca compare e2e.json link.json --on configs/networks/default.yaml --margin-percent 1 --json
  lcca compare dcqcn hpcc --on configs/fabric/leaf-spine.yaml --utility slowdown-short-p99 --stop settled"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("a", type=one_name, help=f"the baseline: {POLICY_HELP}")
    parser.add_argument("b", type=one_name, help="the candidate, likewise")
    add_place(parser)
    usual = f"{COMPARED['engine']}, in ns-3 {COMPARED['ns3']}, on a fabric {COMPARED['fabric']}"
    for variant in variants():
        variant.add(parser)
    parser.add_argument("--trials", type=positive, help=f"pairs at most (default: {usual})")
    add_settling(parser, "over all looks")
    add_bound(parser)
    add_folder(parser)
    parser.set_defaults(run=run)


def variants() -> list[ModuleType]:
    """Return the modules of other questions by the same command, which studies add."""
    return [import_module(full_name(study, each.module)) for study, each in variants_of("compare")]


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    for variant in variants():
        if (status := variant.run(options)) is not None:
            return int(status)
    from lcca.cli.printing.tables import print_comparison, print_gap, print_ideals
    from lcca.experiments.recipes.compare import comparing

    both, wanted = (options.a, options.b, options.on), place_of(options) | settling_of(options)
    prepared = comparing(*both, trials=options.trials, bound=options.bound, **wanted)
    if (result := run_or_plan(options, prepared)) is None:
        return 0
    if options.json:
        print_json(result.content)
    else:
        print_comparison(result.content["comparisons"][0], result.content["note"])
        if options.bound:
            print_ideals(result.content["ideal"][0], "what is possible on these networks")
            print_gap(result.rows)
    return report_failures(list(result.rows["error"]))
