"""Callbacks that tests name; beside them they write what they see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback


class Seen(BaseCallback):
    """Writes a line of JSON at each call."""

    def _write(self, call: str, **values: Any) -> None:
        with Path(__file__).with_suffix(".jsonl").open("a") as file:
            file.write(json.dumps({"call": call, "steps": self.num_timesteps, **values}) + "\n")

    def _on_training_start(self) -> None:
        self._write("training start")

    def _on_rollout_start(self) -> None:
        self._write("rollout start")

    def _on_step(self) -> bool:
        rewards, dones = self.locals["rewards"], self.locals["dones"]
        self._write("step", calls=self.n_calls, rewards=len(rewards), sum=float(rewards.sum()), ended=int(dones.sum()))
        return True

    def _on_rollout_end(self) -> None:
        buffer: Any = self.model.ep_info_buffer
        self._write("rollout end", episodes=len(buffer))

    def _on_training_end(self) -> None:
        self._write("training end")


class StopAt(BaseCallback):
    """Stops a training after so many decisions."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps

    def _on_step(self) -> bool:
        return self.num_timesteps < self.steps


class Bonus(BaseCallback):
    """Changes what is learnt by what it remembers: a training that went on without that would end with other bits."""

    def __init__(self) -> None:
        super().__init__()
        self.history: list[Any] = []
        self.opened = iter(())  # nothing that a file holds

    def _on_rollout_start(self) -> None:
        self.model.ent_coef = 0.01 * len(self.history)  # type: ignore[attr-defined]

    def _on_step(self) -> bool:
        if self.n_calls % 10 == 0:
            self.history.append((self.locals["rewards"].mean(), {"steps": self.num_timesteps}))
        return True


class Fails(BaseCallback):
    """Fails in its first step."""

    def _on_step(self) -> bool:
        return bool(1 / 0)


class NoCallback:
    """Not derived from what it must be."""
