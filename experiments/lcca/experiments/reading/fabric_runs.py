"""A kept evaluation on a fabric: its flows and ports, its figures, and its first trial again to look into it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lcca.evaluation.fabric.figures.flows import draw_fabric, draw_rates, fabric_points, rate_points
from lcca.evaluation.fabric.figures.jobs import draw_steps, step_points
from lcca.evaluation.fabric.figures.series import draw_series, series
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import FabricTrial, positions, run_fabric_trials, trials_of
from lcca.evaluation.report.figures.style import Page, drawn_for
from lcca.evaluation.report.plots import Plot
from lcca.evaluation.trials import loaded_run
from lcca.evaluation.trials.loaded_run import LoadedRun
from lcca.experiments.runs.kinds import EVALUATE
from lcca.inputs.errors import InputError, about, require
from lcca.inputs.validation import validate_json
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.observation import Observation
from lcca.remy_plus.fabric.settings import FLUID
from lcca.signal_sets.load import resolve

Drawn: TypeAlias = tuple[Figure, pd.DataFrame]
"""A figure, and what it shows."""


@dataclass(frozen=True, eq=False)
class FabricRun:
    """The trials of a kept evaluation on a fabric.

    Attributes:
        path: of its folder.
        config: its configuration, as JSON values.
        space: that its trials are drawn from.
        trials: as they were kept.
    """

    path: Path
    config: Mapping[str, Any]
    space: FabricSpace
    trials: list[FabricTrial]

    @classmethod
    def of(cls, run: LoadedRun) -> FabricRun | None:
        """Return the trials of a run; None where it is no evaluation on a fabric, or has none yet."""
        if run.manifest["kind"] != EVALUATE.name or "scenario" not in run.result:
            return None
        space = validate_json(run.config["place"], FabricSpace)
        return cls(run.path, run.config, space, trials_of(run.rows(EVALUATE.name), space.scenarios[0]))

    @property
    def has_ports(self) -> bool:
        """Whether any of its trials tells of ports: neither ideals nor what stands in for a fabric do."""
        return any(each.has_ports for each in self.trials)

    def flows(self) -> pd.DataFrame:
        """Return a row per flow; see `FabricTrial.flow_rows`."""
        return pd.concat([each.flow_rows() for each in self.trials], ignore_index=True)

    def ports(self) -> pd.DataFrame:
        """Return a row per directed port; none where they are not known."""
        found = [each.port_rows() for each in self.trials if each.has_ports]
        return pd.concat(found, ignore_index=True) if found else pd.DataFrame()

    def curves(self) -> Drawn:
        """Draw slowdown by size, distributions, and pauses."""
        points, count = fabric_points(self.trials), len({each.seed for each in self.trials})
        return draw_fabric(points, f"{self.space.name}, {count} trials"), points

    def rates(self, flows: str) -> Drawn:
        """Draw what flows of the first trial deliver over time.

        Args:
            flows: their ids, as in ``3,17``.

        Raises:
            InputError: there are no such flows, or the trial can no longer be run as it was.
        """
        ids = flows.split(",")
        require(all(each.isascii() and each.isdigit() and len(each) < 18 for each in ids), "write rates:3,17")
        watched = list(dict.fromkeys(map(int, ids)))
        with about("rates"):
            positions(self.trials[0].flows, watched)
        points = rate_points(self._again(watched, {}))
        return draw_rates(points, self._title), points

    def series(self, every_us: str) -> Drawn:
        """Draw throughput, round trips, queue and parameters of the first trial over time.

        Args:
            every_us: how often to look where no tuner does.

        Raises:
            InputError: that is no time, or the trial can no longer be run as it was.
        """
        try:
            every = float(every_us)
        except ValueError:
            every = 0.0
        require(0.001 <= every <= 1e9, "write series:100, in µs from 0.001 to 1e9")
        observed: dict[str, Observation] = {}
        self._again([], observed, every)
        tables = [series(policy, each) for policy, each in observed.items()]
        return draw_series(tables, self._title), pd.concat(tables, ignore_index=True)

    def steps(self) -> Drawn:
        """Draw which ranks of jobs send when, in the first trial.

        Raises:
            InputError: it has no jobs.
        """
        first = [each for each in self.trials if each.seed == self.trials[0].seed]
        require(bool((first[0].flows.job >= 0).any()), "--figure steps: the trials have no jobs of training")
        points = step_points(first)
        return draw_steps(points, self._title), points

    @property
    def _title(self) -> str:
        return f"{self.space.name}, seed {self.config['seed']}"

    def _again(self, watched: list[int], observed: dict[str, Observation], every: float = 0) -> list[FabricTrial]:
        """Run the first trial of every contender again, and look closer."""
        scenario, seed = self.space.scenarios[0], self.trials[0].seed
        names = [each["name"] for each in self.config["policies"]]
        engines = {name: engine_of(resolve(name, "fabric").policy, scenario.settings()) for name in names}
        if every:
            observed |= {name: Observation(each.tuner, every) for name, each in engines.items() if not each.ideal}
        again = run_fabric_trials(scenario, engines, [seed], watched=watched, observed=observed)
        kept = {each.policy: each.record["flow_fct_ns"] for each in self.trials if each.seed == seed}
        for each in again:
            if not np.array_equal(each.record["flow_fct_ns"], kept[each.policy], equal_nan=True):
                raise InputError(
                    f"{self.path}: {each.policy} does other things now: its file, the flows or the code changed"
                )
        return again


def load_run(path: str | os.PathLike[str]) -> LoadedRun:
    """Return a run of any command that keeps one, finished or not, with all its tables read.

    Raises:
        InputError: there is no run in this folder, a file of it is missing, or one is damaged.
    """
    run = loaded_run.load_run(path)
    if (fabric := FabricRun.of(run)) is not None:
        run.flows, run.ports = fabric.flows(), fabric.ports()
    return run


def fabric_plots(run: FabricRun, figure: str, page: Page) -> list[Plot]:
    """Draw the figures of an evaluation on a fabric.

    Args:
        run: whose figures.
        figure: ``fabric``, or of the first trial ``rates:3,17``, ``series:100`` or, of jobs of training, ``steps``; any
            other draws those it has.
        page: what they are drawn for.

    Raises:
        InputError: as `FabricRun.rates` and `FabricRun.series`; or the simulator has no port records.
    """
    name, _, detail = figure.partition(":")
    makers = {"rates": (RATES, run.rates), "series": (SERIES, run.series)}
    with drawn_for(page):
        if name in makers:
            require(
                run.has_ports,
                f"--figure {name}: there are no port records: neither simulator {FLUID} nor ideals have them",
            )
            title, make = makers[name]
            found = [(name, title, make(detail))]
        elif name == "steps":
            found = [(name, STEPS, run.steps())]
        else:
            found = [("fabric", CURVES, run.curves())] if run.has_ports else []
    return [Plot(name, title, *content) for name, title, content in found]


CURVES, RATES, SERIES = "Slowdown, queues and pauses", "Rates of flows over time", "The first trial over time"
STEPS = "Steps of jobs of training over time"
