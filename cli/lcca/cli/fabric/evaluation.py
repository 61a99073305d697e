"""`lcca evaluate --fabric`: transports on the same flows of a datacenter fabric."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lcca.cli.fabric.options import policies_of, refuse, scenario_of, simulator_of, utility_of
from lcca.cli.fabric.tables import print_fabric
from lcca.cli.options.common import print_json
from lcca.cli.options.costs import tell_costs
from lcca.cli.options.kept import Kept, kept
from lcca.evaluation.fabric.figures.curves import curve_rows, curves_of, rates_of
from lcca.evaluation.fabric.figures.flows import draw_fabric, draw_rates
from lcca.evaluation.fabric.figures.over_time import draw_series
from lcca.evaluation.fabric.figures.series import series
from lcca.evaluation.fabric.keeping import rows_of, trials_of
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.summary import summary
from lcca.evaluation.fabric.trials import FabricTrial, positions, require_rounds, require_told, run_fabric_trials
from lcca.evaluation.report.figures.saving import save, save_as
from lcca.evaluation.trials.blocks import Block, equal_blocks, run_blocks, to_the_end
from lcca.evaluation.trials.ratio import Ratio
from lcca.experiments.runs.progress import Task
from lcca.experiments.runs.remaining import More
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.fluid import FABRIC
from lcca.remy_plus.fabric.observation import Observation
from lcca.remy_plus.fabric.policies import engine_of

SEEDS_KEPT = 4
"""Seeds in a block, what a kill loses at most; the same for any --jobs."""


def evaluate(options: argparse.Namespace) -> int:
    """Run the command."""
    refuse(options)
    for name, asked in {"--rates": options.rates, "--series": options.series}.items():
        if asked and not options.figure:
            raise InputError(f"{name}: needs --figure, beside which it is drawn")
        if asked and options.out:
            raise InputError(f"{name}: not with --out, which keeps trials and not what was sampled in them")
    simulator = simulator_of(options)
    for name, asked in {"--per-port": options.per_port, "--figure": options.figure}.items():
        if asked and simulator != FABRIC:
            raise InputError(f"{name}: not with --simulator {simulator}, which tells of flows only")
    scenario, utility = scenario_of(options), utility_of(options)
    require_rounds([scenario], utility)
    require_told(simulator, utility)
    if options.rates:
        try:
            positions(scenario.flows(options.seed), options.rates)
        except InputError as error:
            raise InputError(f"--rates: {error}") from None
    policies = policies_of(options, options.policies)
    engines = {name: engine_of(policy, scenario.settings()) for name, policy in policies.items()}
    observed = {name: Observation(each.tuner, options.series) for name, each in engines.items() if options.series}

    def run(block: Block) -> list[FabricTrial]:
        seeds = range(options.seed + block.first, options.seed + block.end)
        watched, looked = ([], {}) if block.first else (options.rates, observed)  # of the first seed alone
        return run_fabric_trials(scenario, engines, list(seeds), options.jobs, watched, looked, simulator)

    if options.plan:
        return tell_costs(options, run, [1.0] * options.seeds, {"in all": options.seeds}, "seeds")
    with kept(options, options.policies) as place:
        title = f"evaluating {', '.join(engines)} on {scenario.name}"
        with place.reporter.task(title, options.seeds, len(engines), "seeds") as task:
            trials = _trials(options, place, task, run, scenario, utility)
        content = _told(options, trials, scenario, observed, utility, simulator)
        place.finish(content)
    return 0


def _trials(
    options: argparse.Namespace,
    place: Kept,
    task: Task,
    run: Callable[[Block], list[FabricTrial]],
    scenario: FabricScenario,
    utility: Ratio,
) -> list[FabricTrial]:
    """Return the trials; where a folder keeps them, a few seeds at a time."""
    if place.run is None:
        return run(Block(0, 0, options.seeds))

    def tell(done: int, _: None) -> None:
        left = options.seeds - done
        task.update(done, f"{done} of {options.seeds} seeds", More(left, left, "seeds"))

    plan = equal_blocks(SEEDS_KEPT, options.seeds)
    parts, _ = run_blocks(plan, lambda block: rows_of(run(block), utility), to_the_end, keep=place.keep, tell=tell)
    return trials_of(pd.concat(parts, ignore_index=True), scenario)


def _told(
    options: argparse.Namespace,
    trials: list[FabricTrial],
    scenario: FabricScenario,
    observed: Mapping[str, Observation],
    utility: Ratio,
    simulator: str,
) -> dict[str, Any]:
    """Write, draw and print what was found; return it as JSON values."""
    _write(options, trials)
    if options.figure:
        _draw(options, trials, scenario.name)
    if observed:
        _draw_series(options, observed, scenario.name)
    rows = summary(trials, utility)
    content = {"scenario": scenario.name, "simulator": simulator, "utility": utility.name, "seeds": options.seeds}
    content |= {"policies": rows}
    if options.json:
        print_json(content | {"rows": [each.row(utility) for each in trials]})
    else:
        print_fabric(scenario, utility.name, rows, simulator)
    return content


def _write(options: argparse.Namespace, trials: list[FabricTrial]) -> None:
    """Write the rows that the options name."""
    for path, rows in ((options.per_flow, FabricTrial.flow_rows), (options.per_port, FabricTrial.port_rows)):
        if path:
            pd.concat([rows(each) for each in trials], ignore_index=True).to_parquet(path, index=False)


def _draw_series(options: argparse.Namespace, observed: Mapping[str, Observation], name: str) -> None:
    """Draw what looks saw of the first seed, and write it beside the figure."""
    tables = [series(policy, each) for policy, each in observed.items()]
    _save(draw_series(tables, f"{name}, seed {options.seed}"), options.figure, "-series")
    pd.concat(tables, ignore_index=True).to_csv(_beside(options.figure, "-series.csv"), index=False)


def _draw(options: argparse.Namespace, trials: list[FabricTrial], name: str) -> None:
    """Draw the figures, and write their points beside them."""
    curves, rates = curves_of(trials), rates_of(trials)
    _save(draw_fabric(curves, f"{name}, {options.seeds} trials"), options.figure, "")
    if rates:
        _save(draw_rates(rates, f"{name}, seed {options.seed}"), options.figure, "-rates")
    curve_rows(curves, rates).to_csv(_beside(options.figure, ".csv"), index=False)


def _save(figure: Figure, file: Path, part: str) -> None:
    """Write a figure as PNG and SVG, and as PDF if that is asked for."""
    save(figure, file.parent, f"{file.stem}{part}")
    if file.suffix == ".pdf":
        save_as(figure, _beside(file, f"{part}.pdf"))


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.stem + ending)
