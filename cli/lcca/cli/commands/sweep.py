"""`lcca sweep`: a whole campaign, or a grid of them."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import print_json, print_visible
from lcca.evaluation.trials.layout import REPORT
from lcca.experiments.verbs.sweeping import Sweep

EXAMPLES = """\
  lcca sweep configs/quickstart.yaml
  lcca sweep configs/headers/quickstart.yaml --plan
  lcca sweep configs/paper/signals-default.yaml --set training_seeds=[1,2] --jobs 2
  lcca sweep configs/signals.yaml --plan --executor ray --jobs 70 --trainings 70
  lcca sweep configs/smoke.yaml --until trained
  lcca sweep configs/smoke.yaml --out /tmp/smoke --json"""


def run(verb: Sweep, options: argparse.Namespace) -> int:
    from lcca.cli.printing.forecasts import print_forecasts
    from lcca.cli.printing.tables import print_points, print_result
    from lcca.experiments.recipes.sweep import sweeping

    prepared = sweeping(verb)
    if options.plan:
        remaining = prepared.costs()
        if options.json:
            print_json({"points": [{"name": point, **each.to_json()} for point, each in remaining.items()]})
        else:
            print_forecasts(prepared.grid.name, remaining)
        return 0
    result = prepared.run(verb.out, resume=True, quiet=False)
    if options.json:
        print_json(result.content)
    elif "rows" in result.content:
        for row in result.content["rows"]:
            rules = f"{row['rules']} rules" if row["rules"] else "trained"
            print_visible(f"{row['id']}: {rules} after {row['trials']:,} trials: {row['policies'][-1]}")
    else:
        if "points" in result.content:
            print_points(result.content)
        else:
            print_result(result.content, options.tables)
        print_visible(f"\nreport: {result.folder}/{REPORT}")
    return 0
