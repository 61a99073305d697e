"""A trainer in one file: fixed windows at random, of which the best is kept. Documented in CONTRIBUTING.md."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from lcca.evaluation.trials.running import run_trials
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.policy import FixedWindow
from lcca.trainers.base import Keeper, LearningRow, Task, TrainerConfig, first_network
from lcca.trainers.checkpoint import read_checkpoint, write_checkpoint


class WindowSearchConfig(TrainerConfig):
    """Each round tries one window on a few networks."""

    trainer: ClassVar[str] = "example_trainer:WindowSearch"

    kind: Literal["window-search"] = "window-search"
    networks: int = 4


class WindowSearch:
    """See `lcca.trainers.base.Trainer`."""

    def __init__(
        self,
        task: Task,
        config: WindowSearchConfig,
        engine: Engine,
        checkpoint: Path | None = None,
        keep: Keeper = lambda round_, policy: None,
        shared: Path | None = None,
    ) -> None:
        if task.header is not None or task.warm_start is not None:
            raise InputError("window-search: neither headers nor warm starts")
        self.task, self.config, self.engine, self.checkpoint, self.keep = task, config, engine, checkpoint, keep
        found = checkpoint is not None and checkpoint.exists()
        state: dict[str, Any] = read_checkpoint(checkpoint, task.identity) if checkpoint and found else {}
        self.best: int = state.get("best", 1)
        self.score: float = state.get("score", -1e9)
        self.learning = [LearningRow(**row) for row in state.get("learning", [])]

    @property
    def used(self) -> int:
        return len(self.learning)

    @property
    def done(self) -> bool:
        return self.used >= self.config.rounds

    @property
    def policy(self) -> FixedWindow:
        return FixedWindow(self.best)

    def step(self) -> None:
        began, round_, task = time.process_time(), self.used, self.task
        window = int(np.random.default_rng([task.seed, round_]).integers(1, 20))
        networks = task.networks.draw(task.seed, self.config.networks, first_id=first_network(task.networks, round_))
        rows = run_trials(self.engine, {"it": FixedWindow(window)}, networks, [task.seed], task.utility)
        score = float(rows["score_bits"].mean())
        if score > self.score:
            self.best, self.score = window, score
        before = self.learning[-1] if self.learning else LearningRow(0, 0, "try", 0, 0.0, 0, 0, 0.0)
        trials, packets = before.trials + len(rows), before.packets + int(rows["packets_delivered"].sum())
        cpu_s = before.cpu_s + time.process_time() - began
        self.learning.append(LearningRow(round_ + 1, round_, "try", 0, score, trials, packets, cpu_s))
        self.keep(round_, self.policy)
        if self.checkpoint is not None:
            learning = [asdict(row) for row in self.learning]
            state = {"best": self.best, "score": self.score, "learning": learning}
            write_checkpoint(self.checkpoint, task.identity, state)
