"""Where the CPU seconds of a training by PPO go, and what bounds its decisions per CPU second.

    python benchmarks/training/ppo.py [--decisions 400000] [--set epochs=2 ...]

One training of the first signal set of `configs/drl/ppo.yaml`, as it ships but for its length, on one thread: rollouts
(engine, the actor's decisions, records), values and advantages, the update. Beside them, alone and per decision:
the engine's slots with a fixed action, and forward and backward passes of actor and critic over whole batches, as
often as there are epochs, without loss, clipping or optimiser, by PyTorch's threads and modes of compilation.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lcca.evaluation.trials.utilities import utility
from lcca.experiments.campaign.config import read_campaign
from lcca.remy_plus.engine import Engine
from lcca.trainers.base import Task
from lcca.trainers.drl.ppo import Ppo
from lcca.trainers.drl.trainer import DrlTrainer, slots_of

CAMPAIGN = Path(__file__).parents[2] / "configs" / "drl" / "ppo.yaml"
SPENT: Counter[str] = Counter()


def timed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call, its CPU seconds added up under a name."""

    def run(*given: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return call(*given, **named)
        finally:
            SPENT[name] += time.process_time() - began

    return run


def passes(algorithm: Ppo, rows: int, inputs: int, mode: str | None = None) -> tuple[float, float]:
    """Return the CPU and wall seconds that a row takes forward and backward through both networks.

    Rows come in batches as the trainer's are, and through `torch.compile` in this mode, if any.
    """
    policy, seen, batch = algorithm.model.policy, torch.randn(rows, inputs), algorithm.config.batch

    def summed(part: torch.Tensor) -> torch.Tensor:
        latent, valued = policy.mlp_extractor(part)
        return policy.action_net(latent).sum() + policy.value_net(valued).sum()

    run = summed if mode is None else torch.compile(summed, mode=mode)
    run(seen[:batch]).backward()  # compiles it
    began = np.array([time.process_time(), time.perf_counter()])
    for part in torch.split(seen, batch):
        run(part).backward()
    cpu, wall = (np.array([time.process_time(), time.perf_counter()]) - began) / rows
    return cpu, wall


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[], help="keys of the trainer")
    options = parser.parse_args()
    torch.set_num_threads(1)
    campaign = read_campaign(CAMPAIGN, [f"trainer.{each}" for each in options.set])
    config = campaign.trainer.model_copy(update={"steps": options.decisions, "rounds": 1})
    signals = campaign.signal_sets[0].signals
    task = Task("e2e", signals, campaign.networks, utility("default"), seed=options.seed)
    engine = Engine(campaign.networks.duration, jobs=1)
    trainer = DrlTrainer(task, config, engine)
    algorithm = trainer.algorithm
    algorithm._collect = timed("rollouts", algorithm._collect)
    algorithm._columns = timed("values and advantages", algorithm._columns)
    algorithm.model.train = timed("update", algorithm.model.train)
    began = time.process_time()
    trainer.step()
    whole, decisions = time.process_time() - began, trainer.used
    print(f"{decisions / whole:,.0f} decisions per CPU second, score {trainer.learning[-1].score_bits:.3f} bits")
    for name, spent in SPENT.items():
        print(f"{name:30}{spent / decisions * 1e6:8.2f} µs a decision {spent / whole:6.0%}")
    slots, action = slots_of(task, config, trainer.agent, engine, 0, 1), trainer.agent.numbers
    taken, began = 0, time.process_time()
    while taken < decisions:
        taken += len(slots.ready)
        slots.step(np.zeros((len(slots.ready), action), dtype=np.float32))
    print(f"{'slots alone':30}{(time.process_time() - began) / taken * 1e6:8.2f} µs a decision")
    inputs = algorithm.model.observation_space.shape[0]
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for mode in (None, "default", "max-autotune"):
            times = [passes(algorithm, 1 << 18, inputs, mode) for _ in range(3)]
            cpu, wall = (min(each) * config.epochs for each in zip(*times, strict=True))
            name = f"passes alone, {threads} threads, {mode or 'not compiled'}"
            most = f"at most {1 / cpu:,.0f} a CPU second, {1 / wall:,.0f} a wall second"
            print(f"{name:42}{cpu * 1e6:8.2f} µs a decision, all epochs: {most}", flush=True)


if __name__ == "__main__":
    main()
