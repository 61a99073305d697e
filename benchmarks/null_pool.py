"""Real scores of different policies on the same networks, from which `null.py` draws comparisons whose truth is known.

Scores are kept under the user's cache folder, since it takes about ten CPU minutes to have them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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

CONFIGS = Path(__file__).parents[1] / "configs"
SPACE = read_config(CONFIGS / "networks" / "default.yaml", NetworkSpace)
FILES = ("e2e", "link", "queue", "link+queue", "vegas-like")
BASELINES = ("aimd", "fixed-window:20", "fixed-window:40")
TRAININGS = (("e2e", 1), ("e2e", 2), ("link", 1))
BUDGET = 10_000
"""Trials of a training: a third of the quickstart's."""

NETWORKS = 20_000
IN_NS3 = ("e2e", "link+queue")
NS3_NETWORKS = 1600
NS3_DURATION = 2000.0
"""µs: a fifth of the space's, since a trial in ns-3 costs 300 times as much."""

SEED = 7
CHUNK = 2000
Scores = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Pool:
    """Scores of policies on the same networks, in whole blocks.

    Attributes:
        name: "engine" or "ns3".
        scores: by policy, bits, one per network.
    """

    name: str
    scores: Scores

    def differences(self, a: str, b: str) -> NDArray[np.float64]:
        """Return (blocks, networks of a block) differences B − A; blocks with a failed trial are left out."""
        d = (self.scores[b] - self.scores[a]).reshape(-1, SPACE.block)
        return d[np.isfinite(d).all(axis=1)]


def engine_pool(networks: int = NETWORKS, jobs: int = 1) -> Pool:
    """Return the scores in the engine, trained policies among them."""
    return Pool("engine", _cached("engine", networks, lambda: _run(Engine(SPACE.duration, jobs=jobs), networks)))


def ns3_pool(networks: int = NS3_NETWORKS, jobs: int = 1) -> Pool:
    """Return the scores of two policies in ns-3, on short trials."""
    from lcca.gym_envs.ns3.simulator import Ns3

    def run() -> Scores:
        policies = {name: policyfile.load(str(CONFIGS / "policies" / f"{name}.json")).policy for name in IN_NS3}
        return _scores(Ns3(NS3_DURATION, jobs=jobs), policies, networks)

    return Pool("ns3", _cached("ns3", networks, run))


def _cached(name: str, networks: int, run: Callable[[], Scores]) -> Scores:
    """Return kept scores, or run what gives them; delete the folder after a change of the engine."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "lcca" / "null"
    texts = sorted(file.read_text() for file in (CONFIGS / "policies").glob("*.json"))
    known = json.dumps([texts, FILES, BASELINES, TRAININGS, BUDGET, NS3_DURATION, SEED, SPACE.model_dump_json()])
    file = folder / f"{name}-{networks}-{sha256(known.encode()).hexdigest()[:12]}.npz"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part.npz")
        np.savez_compressed(part, **{k: v.astype(np.float32) for k, v in run().items()})
        part.replace(file)
    with np.load(file) as kept:
        return {key: kept[key].astype(np.float64) for key in kept}


def _run(engine: Engine, networks: int) -> Scores:
    return _scores(engine, dict(_policies(engine.jobs)), networks)


def _scores(simulator: Simulator, policies: dict[str, Policy], networks: int) -> Scores:
    parts = []
    for first in range(0, networks, CHUNK):
        drawn = SPACE.draw(SEED, min(CHUNK, networks - first), first_id=first)
        parts.append(common_scores(run_trials(simulator, policies, drawn, [SEED], DEFAULT, keep_delays=False)))
    return {name: np.concatenate([part[name] for part in parts]) for name in policies}


def _policies(jobs: int) -> Iterator[tuple[str, Policy]]:
    for name in FILES:
        yield name, policyfile.load(str(CONFIGS / "policies" / f"{name}.json")).policy
    for name in BASELINES:
        yield name, policyfile.load(name).policy
    for name, seed in TRAININGS:
        yield f"{name} trained, seed {seed}", _trained(name, seed, jobs)


def _trained(name: str, seed: int, jobs: int) -> Policy:
    """Train as the quickstart does, on a third of its budget."""
    signals = signal_set(name).signals
    task = Task(f"null.{name}.{seed}", signals, SPACE, DEFAULT, derive(SEED, "null", name, seed))
    config = RplusConfig(rounds=3, passes=1, networks=64, check_networks=208, budget_trials=BUDGET)
    trainer = RplusTrainer(task, config, Engine(SPACE.duration, jobs=jobs))
    while not trainer.done:
        trainer.step()
    return trainer.policy
