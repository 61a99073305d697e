"""The trials of a map: all trainings meet the points of a design, which grows where something is open.

Every training seed meets the same values of the map's parameters, on networks (or a fabric) and traffic of its own: its
policies meet the same, so that they are paired, and what training seeds have in common is the map alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.metrics import SCORE, Metric
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.source import NetworkTrials
from lcca.evaluation.trials.utility import unfinished_columns
from lcca.experiments.experiment import Answer, Experiment, Numbered, Stop, Trials
from lcca.experiments.runs.seeds import derive
from lcca.remy_plus.core.elementary import log2
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.simulator import told_of_trials
from lcca.studies.maps.axes import coordinates, filling
from lcca.studies.maps.config import MapConfig
from lcca.studies.maps.looks import Ground, Look, look, new_points
from lcca.studies.maps.smoothing import Spectra
from lcca.workers.pool import Pool

Floats = NDArray[np.float64]

MIXED = 256
"""Networks of a mix of traffic."""


@dataclass(frozen=True)
class Survey:
    """What a map says after a look.

    Attributes:
        looks: by pair and metric, in the order of the configuration.
        points: that they rest on.
        left_out: points without a value for every training.
    """

    looks: dict[tuple[str, str, str], Look]
    points: int
    left_out: int


@dataclass(eq=False)
class Surveyor:
    """Runs the trials of a map, and answers what they say: the question of its experiment.

    Attributes:
        config: of the map.
        execution: how trials are run.
        source: of the trials.
    """

    config: MapConfig
    execution: Execution
    source: NetworkTrials | FabricTrials = field(init=False)
    ground: Ground = field(init=False)
    values: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Begin with a design that is even everywhere."""
        config, mix = self.config, np.empty((0, len(self.config.over)))
        if isinstance(config.mix, FabricSpace):
            mix = np.array(config.mix.numbers(config.over))
        elif isinstance(config.mix, NetworkSpace):
            drawn = config.mix.draw(derive(config.seed, "mix"), MIXED)
            mix = np.array([[getattr(each, name) for name in config.over] for each in drawn], dtype=np.float64)
        keep = any(name.startswith("rtt_") for name in config.metrics)
        self.source = config.space.trials(self._seed, config.scored_by, self.execution, keep_delays=keep)
        self.ground = Ground(config.axes, mix)
        self.values = filling(config.axes, self._seed, 0, config.points)

    @property
    def _seed(self) -> int:
        return derive(self.config.seed, "map")

    def experiment(self) -> Experiment:
        """Return the experiment, which ends early where nothing is open."""
        config = self.config
        contenders = {each.learner.id: each.policy for own in config.trainings.values() for each in own.values()}
        stop = Stop(config.points, when="settled", ends=config.ends)
        place = Numbered(self.rows, "points", config.scored_by)
        return Experiment(place, contenders, [self], stop, f"mapping over {', '.join(config.over)}")

    def rows(self, _: Mapping[str, Any], block: Block) -> pd.DataFrame:
        """Run all trainings on a stretch of the design."""
        trained = [{each.learner.id: each.policy for each in own.values()} for own in self.config.trainings.values()]
        if isinstance(self.source, FabricTrials):
            return self._on_fabric(self.source, trained, block)
        source, parts = self.source, []
        for number, policies in enumerate(trained):
            run = (source.simulator, policies, self._networks(source, number, block), source.seeds, source.utility)
            parts.append(run_trials(*run, keep_delays=source.keep_delays))
        return pd.concat(parts, ignore_index=True)

    def _on_fabric(self, source: FabricTrials, trained: Sequence[Mapping[str, Policy]], block: Block) -> pd.DataFrame:
        """Run them on the scenarios of the points: training seed j meets traffic `points`·j and on."""
        calls, points = [], self.config.points
        for point in range(block.first, block.end):
            numbers = dict(zip(self.config.over, self.values[point].tolist(), strict=True))
            here = partial(_row, source.space.changed(numbers), source.seed, source.utility)
            for number, policies in enumerate(trained):
                calls += [partial(here, number * points + point, *each) for each in policies.items()]
        rows = pd.concat(source.pool.calls(calls), ignore_index=True)
        met = self.values[rows["network"] % points]
        return rows.assign(**dict(zip(self.config.over, met.T, strict=True)))

    def _networks(self, source: NetworkTrials, number: int, block: Block) -> list[Network]:
        """Return the networks of a training seed, which no other one meets: all else than the map is drawn."""
        drawn = source.space.draw(self._seed, block.size, number * self.config.points + block.first)
        rows = (dict(zip(self.config.over, row, strict=True)) for row in self.values[block.first : block.end].tolist())
        whole = [row | {"senders": int(row["senders"])} if "senders" in row else row for row in rows]
        return [replace(network, **row) for network, row in zip(drawn, whole, strict=True)]

    def __call__(self, trials: Trials) -> Answer:
        """Return what the trials so far say; the next ones go where something is open."""
        config, done = self.config, trials.done
        differences = {key: self._differences(trials.rows, *key) for key in self._keys}
        there = np.logical_and.reduce([np.isfinite(each).all(axis=1) for each in differences.values()])
        spectra = Spectra(coordinates(config.axes, self.values[:done][there]))
        at = config.ends.index(done)
        spans = (0 if at == 0 else config.ends[at - 1]) / config.points, done / config.points
        looks = {
            key: look(self.ground, spectra, each[there], self.margin(key[2]), config.error_rate, *spans)
            for key, each in differences.items()
        }
        if done < config.points:
            step = config.ends[at + 1] - done
            self.values[done : done + step] = new_points(config.axes, list(looks.values()), self._seed, done, step)
        settled = all(each.settled for each in looks.values())
        open_ = max(each.shares(each.points)["not settled"] for each in looks.values())
        found = Survey(looks, int(there.sum()), int((~there).sum()))
        return Answer(found, settled, settled, words=f"{done} points: at most {open_:.0%} of the space not settled")

    def looks_cpu_s(self) -> float:
        """Return the CPU seconds of all looks at most, by the last one at two differences, which are made up."""
        config, taken = self.config, [0.0]
        noise = np.random.default_rng(0).standard_normal((config.points, len(config.trainings)))
        for _ in range(2):  # the first look makes what all share
            spectra, taken = Spectra(coordinates(config.axes, self.values)), []
            for _ in range(2):  # and the first difference what all of a look share
                begin = time.process_time()
                look(self.ground, spectra, noise, 1.0, config.error_rate, 0, 1)
                taken.append(time.process_time() - begin)
        return config.looks * (taken[0] + taken[1] * (len(self._keys) - 1))

    @property
    def _keys(self) -> list[tuple[str, str, str]]:
        return [(a, b, metric.name) for a, b in self.config.compared for metric in self.config.measured]

    def margin(self, metric: str) -> float:
        """Return the difference of a metric, in bits, that does not matter."""
        if metric == SCORE.name:
            return self.config.scored_by.margin(self.config.margin)
        return math.log2(1 + self.config.margin / 100)

    def _differences(self, rows: pd.DataFrame, a: str, b: str, metric: str) -> Floats:
        """Return by how many bits b is better than a, (points, training seeds); NaN where there is no value."""
        measured = next(each for each in self.config.measured if each.name == metric)
        values = bits_of(rows, measured, self.config.trained_by.settle.unfinished_percent)
        table = pd.DataFrame({"policy": rows["policy"], "network": rows["network"], "bits": values})
        by_policy = {name: own.sort_values("network")["bits"].to_numpy() for name, own in table.groupby("policy")}
        pairs = [(own[a].learner.id, own[b].learner.id) for own in self.config.trainings.values()]
        return np.column_stack([by_policy[two] - by_policy[one] for one, two in pairs])


def _row(space: FabricSpace, seed: int, utility: Ratio, number: int, name: str, policy: Policy) -> pd.DataFrame:
    """Run one policy in one trial, in whatever process; who called tells of it."""
    with told_of_trials(lambda: None):
        return FabricTrials(space, seed, utility).rows({name: policy}, Block(0, number, 1))


def bits_of(rows: pd.DataFrame, metric: Metric, unfinished_percent: float) -> Floats:
    """Return how good trials are by a metric in bits: a score, or the logarithm of anything else.

    NaN where more of what is scored is unfinished than may be, unless the metric is of ports.
    """
    there, (of, unfinished, _) = rows["status"] == "ok", unfinished_columns(SCORE.name)
    if of in rows and (metric.name == SCORE.name or metric.needs != "ports"):
        there &= 100 * rows[unfinished] <= unfinished_percent * rows[of]
    values = rows[metric.name].where(there).to_numpy(dtype=np.float64)
    if metric.name == SCORE.name:
        return values
    logarithms = log2(np.where(values > 0, values, np.nan))
    return logarithms if metric.better == "more" else -logarithms


def surveyor(config: MapConfig, workers: Pool) -> Surveyor:
    """Return what runs a map's trials on a pool, in the network model that the campaign trained in."""
    return Surveyor(config, replace(Execution.on(workers), model=config.trained_by.model.build()))
