"""Episodes of a training as Stable-Baselines3's ``Monitor`` writes them, for what reads such files."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from lcca.trainers.drl.collector import Experience


class Monitor:
    """Writes ``r`` (return), ``l`` (decisions) and ``t`` (seconds since the training went on) of each flow's episode.

    `stable_baselines3.common.monitor.load_results` reads the folder. A round that was stopped is not in it.

    Args:
        path: of the file, which ends in ``.monitor.csv``; None for nowhere. More is appended.
        name: `env_id`.
    """

    def __init__(self, path: Path | None, name: str) -> None:
        self._path, self._name, self._start = path, name, time.time()
        self._began = time.monotonic()  # the clock of the day may be set
        self.begin()

    def begin(self) -> None:
        """Begin a round: no flow is on."""
        self._rows: list[tuple[float, int, float]] = []
        self._carried: dict[int, tuple[float, int]] = {}

    def take(self, experience: Experience) -> list[tuple[float, int, float]]:
        """Take decisions in, each slot's in their order, and return the episodes that end with them."""
        before = len(self._rows)
        order = np.argsort(experience.slot, kind="stable")
        slot, ended = experience.slot[order], experience.ended[order] != 0
        if not len(slot):
            return []
        first = np.flatnonzero(np.r_[True, ended[:-1] | (slot[1:] != slot[:-1])])
        returns = np.add.reduceat(experience.reward[order].astype(np.float64), first)
        lasts = np.r_[first[1:], len(slot)] - 1
        since = round(time.monotonic() - self._began, 6)
        for begin, last, total in zip(first, lasts, returns, strict=True):
            own, many = self._carried.pop(int(slot[begin]), (0.0, 0))
            flow = (own + float(total), many + int(last - begin) + 1)
            if ended[last]:
                self._rows.append((*flow, since))
            else:
                self._carried[int(slot[begin])] = flow
        return self._rows[before:]

    def write(self) -> None:
        """Append the round's episodes."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = not self._path.exists()
        with self._path.open("a", encoding="utf-8") as file:
            if new:
                file.write(f"#{json.dumps({'t_start': self._start, 'env_id': self._name})}\nr,l,t\n")
            file.writelines(f"{total:.6f},{many},{since}\n" for total, many, since in self._rows)
