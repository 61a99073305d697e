"""`lcca stress`: networks where a policy loses most against others, confirmed on fresh trials."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import positive, print_json, print_visible
from lcca.cli.options.trials import POLICY_HELP, add_folder, add_place, place_of, report_failures, run_or_plan
from lcca.inputs.names import one_name
from lcca.studies.stress.defaults import STRESSED

EXAMPLES = """\
  lcca stress configs/policies/e2e.json --against configs/policies/law-e2e.json --on configs/networks/default.yaml
  lcca stress aimd --against fixed-window:12 fixed-window:24 --on configs/networks/default.yaml --candidates 200
  lcca stress law.json --against ideal-fair --on space.yaml --set 'rtt={min: 10, max: 200, step: 10}'
  lcca stress law.json --against aimd --on configs/networks/default.yaml --metric delay_us --json"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policy", type=one_name, help=f"policy under test: {POLICY_HELP}")
    parser.add_argument(
        "--against",
        nargs="+",
        required=True,
        type=one_name,
        metavar="REFERENCE",
        help="policies, or ideals: ideal-fair, -causal, -clairvoyant, -upper; on each network the best of them counts",
    )
    add_place(parser)
    parser.add_argument("--metric", help="column of the trials that the policy loses by (default: the score)")
    parser.add_argument(
        "--candidates", type=positive, help=f"networks that are tried (default: {STRESSED['candidates']})"
    )
    parser.add_argument("--seeds", type=positive, help=f"trials on each of them (default: {STRESSED['seeds']})")
    parser.add_argument(
        "--networks", type=positive, help=f"worst networks that are confirmed (default: {STRESSED['networks']})"
    )
    parser.add_argument("--fresh", type=positive, help=f"fresh trials on each of them (default: {STRESSED['fresh']})")
    add_folder(parser, "results/<name>/<hash>")
    parser.set_defaults(run=run, kept=True)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is confirmed."""
    from lcca.cli.printing.console import print_table
    from lcca.evaluation.report.words.statements import capital
    from lcca.studies.stress.recipe import HARD_NETWORKS, stressing
    from lcca.studies.stress.report.words import hard_table, hard_words

    wanted = {name: getattr(options, name) for name in ("metric", "candidates", "networks", "fresh")}
    prepared = stressing(options.policy, options.against, options.on, **wanted, **place_of(options))
    if (result := run_or_plan(options, prepared)) is None:
        return 0
    if options.json:
        print_json(result.content)
    else:
        print_table(hard_table(result.content), f"{capital(hard_words(result.content))}.")
        if result.folder is not None and (file := result.folder / HARD_NETWORKS).exists():
            print_visible(f"those networks: {file}")
    return report_failures(list(result.rows["error"]))
