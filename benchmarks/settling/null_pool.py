"""Real scores of different policies on the same networks, from which `null.py` draws comparisons whose truth is known.

Scores are kept under the user's cache folder, since it takes about ten CPU minutes to have them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import common_scores, run_trials
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.experiments.runs.seeds import derive
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.simulator import Simulator
from lcca.signal_sets.signal_set import signal_set
from lcca.trainers.base import Task
from lcca.trainers.rplus.config import RplusConfig
from lcca.trainers.rplus.trainer import RplusTrainer

CONFIGS = Path(__file__).parents[2] / "configs"
SPACE = read_config(CONFIGS / "networks" / "default.yaml", NetworkSpace)
FILES = ("e2e", "link", "queue", "link+queue", "vegas-like")
BASELINES = ("aimd", "fixed-window:20", "fixed-window:40")
TRAININGS = (("e2e", 1, 1), ("e2e", 2, 1), ("link", 1, 1), ("e2e", 1, 4), ("e2e", 2, 4))
"""Signal set, seed, and fewest senders of the networks learnt on. From 4 on, they are what training on few networks
with one or two senders gives by bad luck: nearly as good on most networks, and poor on few."""

BUDGET = 10_000
"""Trials of a training: a third of the quickstart's."""

NETWORKS = 20_000
IN_NS3 = ("e2e", "link+queue")
NS3_NETWORKS = 1600
NS3_DURATION = 2000.0
"""µs: a fifth of the space's, since a trial in ns-3 costs 300 times as much."""

SEED = 7
CHUNK = 2000


@dataclass(frozen=True)
class Pool:
    """Scores of policies on the same networks, in whole blocks.

    Attributes:
        name: "engine" or "ns3".
        scores: by policy, bits, one per network.
    """

    name: str
    scores: dict[str, NDArray[np.float64]]

    def differences(self, a: str, b: str) -> NDArray[np.float64]:
        """Return (blocks, networks of a block) differences B − A; NaN where a trial failed or had no score."""
        return (self.scores[b] - self.scores[a]).reshape(-1, SPACE.block)

    def senders(self) -> NDArray[np.int64]:
        """Return the number of senders of each network, likewise."""
        count = len(next(iter(self.scores.values())))
        return np.array([network.senders for network in SPACE.draw(SEED, count)]).reshape(-1, SPACE.block)


def engine_pool(networks: int = NETWORKS, jobs: int = 1) -> Pool:
    """Return the scores in the engine, trained policies among them."""
    engine = Engine(SPACE.duration, jobs=jobs)
    return Pool("engine", {name: _cached(engine, name, made, networks) for name, made in _policies(jobs)})


def ns3_pool(networks: int = NS3_NETWORKS, jobs: int = 1) -> Pool:
    """Return the scores of two policies in ns-3, on short trials."""
    from lcca.gym_envs.ns3.simulator import Ns3

    ns3 = Ns3(NS3_DURATION, jobs=jobs)
    return Pool("ns3", {name: _cached(ns3, name, made, networks) for name, made in _policies(jobs) if name in IN_NS3})


def _cached(simulator: Simulator, name: str, made: Callable[[], Policy], networks: int) -> NDArray[np.float64]:
    """Return kept scores, or run what gives them; delete the folder after a change of the simulator."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "lcca" / "null"
    said = json.dumps([simulator.name, simulator.duration, name, networks, BUDGET, SEED, SPACE.model_dump_json()])
    file = folder / f"{sha256(said.encode()).hexdigest()[:16]}.npy"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part.npy")
        np.save(part, _scores(simulator, made(), networks).astype(np.float32))
        part.replace(file)
    return np.asarray(np.load(file), dtype=np.float64)


def _scores(simulator: Simulator, policy: Policy, networks: int) -> NDArray[np.float64]:
    parts = []
    for first in range(0, networks, CHUNK):
        drawn = SPACE.draw(SEED, min(CHUNK, networks - first), first_id=first)
        rows = run_trials(simulator, {"it": policy}, drawn, [SEED], DEFAULT, keep_delays=False)
        parts.append(common_scores(rows)["it"])
    return np.concatenate(parts)


def _policies(jobs: int) -> Iterator[tuple[str, Callable[[], Policy]]]:
    """Yield names and how the policies are made."""
    for name in FILES:
        yield name, partial(_loaded, str(CONFIGS / "policies" / f"{name}.json"))
    for name in BASELINES:
        yield name, partial(_loaded, name)
    for name, seed, senders in TRAININGS:
        where = "" if senders == 1 else f" on {senders} to 16 senders"
        yield f"{name} trained{where}, seed {seed}", partial(_trained, name, seed, senders, jobs)


def _loaded(name: str) -> Policy:
    return policyfile.load(name).policy


def _trained(name: str, seed: int, senders: int, jobs: int) -> Policy:
    """Train as the quickstart does, on a third of its budget."""
    signals = signal_set(name).signals
    space = NetworkSpace.model_validate({**SPACE.model_dump(), "senders": {"min": senders, "max": 16, "step": 1}})
    task = Task(f"null.{name}.{seed}", signals, space, DEFAULT, derive(SEED, "null", name, seed))
    config = RplusConfig(rounds=3, passes=1, networks=64, check_networks=208, budget_trials=BUDGET)
    trainer = RplusTrainer(task, config, Engine(SPACE.duration, jobs=jobs))
    while not trainer.done:
        trainer.step()
    return trainer.policy
