"""`lcca evaluate --fabric`: transports on the same flows of a datacenter fabric."""

from __future__ import annotations

import argparse

import pandas as pd

from lcca.cli.fabric.options import policies_of, refuse, scenario_of, slowdown_of
from lcca.cli.fabric.tables import print_fabric
from lcca.cli.options.common import print_json
from lcca.evaluation.fabric.figure import draw_slowdown, slowdown_data
from lcca.evaluation.fabric.summary import summary
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trials
from lcca.evaluation.report.figures.style import save
from lcca.experiments.runs.progress import Reporter
from lcca.remy_plus.fabric.policies import engine_of


def evaluate(options: argparse.Namespace) -> int:
    """Run the command."""
    refuse(options)
    scenario, utility = scenario_of(options), slowdown_of(options)
    policies = policies_of(options, options.policies)
    engines = {name: engine_of(policy, scenario.settings()) for name, policy in policies.items()}
    seeds = list(range(options.seed, options.seed + options.seeds))
    total = len(seeds) * len(engines)
    with Reporter().task(f"evaluating {', '.join(engines)} on {scenario.name}", total=total) as task:
        trials = run_fabric_trials(
            scenario, engines, seeds, options.jobs, lambda done: task.update(done, f"{done} of {total} trials")
        )
    _write(options, trials, f"{scenario.name}, {options.seeds} trials")
    rows = summary(trials, utility)
    if options.json:
        content = {"scenario": scenario.name, "utility": utility.name, "seeds": options.seeds, "policies": rows}
        print_json(content | {"rows": [each.row(utility) for each in trials]})
    else:
        print_fabric(scenario, utility.name, rows)
    return 0


def _write(options: argparse.Namespace, trials: list[FabricTrial], title: str) -> None:
    """Write the rows and the figure that the options name."""
    for path, rows in ((options.per_flow, FabricTrial.flow_rows), (options.per_port, FabricTrial.port_rows)):
        if path:
            pd.concat([rows(each) for each in trials], ignore_index=True).to_parquet(path, index=False)
    if options.figure:
        save(draw_slowdown(slowdown_data(trials), title), options.figure.parent, options.figure.stem)
