"""Screening: how a base law fares that has learnt what is new in a header, beside one that has learnt as long without.

A base law has learnt the stages that all headers share. From there every header learns its own coefficients alone, for
the same trials and with the same perturbations, and all are tested on the same networks with their bytes charged. What
comes out orders headers. It is never their worth: the best of many is so by luck too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.place import Execution
from lcca.experiments.learning.plan import Learner
from lcca.experiments.runs.code_version import code_version
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.seeds import derive
from lcca.inputs.files import make_folder, read_checked, write_checked
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, loads
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.candidate import Candidate
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.simulated import header_signals
from lcca.signal_sets.signal_set import SignalSet
from lcca.studies.design.config import DesignConfig, Screen
from lcca.studies.design.listing import Tried
from lcca.trainers.base import WarmStart
from lcca.trainers.law.config import StageConfig
from lcca.trainers.registry import trainer_class
from lcca.workers.pool import Pool

FOLDER = "search"
"""In a run's folder: what was trained and tested."""

CONTROL = "none"
"""The base law that has learnt as long as others, without a header."""

FEATURE_WIDTH = 0.3
"""Of the first perturbations of new coefficients."""

NETWORKS = 4
"""Of a generation: so few that a short training has generations enough."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Screened:
    """What a screening found of a header.

    Attributes:
        name: of the header.
        mean: by how many bits it is better than the control, over base laws.
        error: its standard error: over base laws, or over networks of one.
    """

    name: str
    mean: float
    error: float


class Screening:
    """Trainings and tests of a search, kept file by file in the run's folder; what is there is not done again."""

    def __init__(self, run: Run[DesignConfig, None], workers: Pool) -> None:
        self.config, self.folder, self.costs = run.config, run.path / FOLDER, run.costs
        self.reporter, self.workers = run.reporter, workers
        self.engine: Engine = self._execution.engine(self.config.networks.duration)
        self.utility = self.config.utilities[0].build()
        self.code = code_version((__name__,))
        self.plain = Candidate(self.config.base, None, self.config.packet_bytes)

    @property
    def _execution(self) -> Execution:
        """How trials are run."""
        return replace(Execution.on(self.workers), model=self.config.model.build())

    def candidate(self, header: Header) -> Candidate:
        """Return the candidate of a header, as campaigns have it."""
        base = self.config.base.signals
        signals = (*base, *(name for name in header_signals(header) if name not in base))
        return Candidate(
            SignalSet(name=header.name, title=header.title, signals=signals), header, self.plain.packet_bytes
        )

    def phase(self, name: str, tried: list[Tried], how: Screen) -> list[Screened]:
        """Screen headers, and return them, the best first."""
        found: dict[str, list[Floats]] = {each.name: [] for each in tried}
        with self.reporter.task(f"{name}: {len(tried)} headers", how.seeds * (1 + len(tried))) as task:
            done = 0
            for seed in range(1, how.seeds + 1):
                control = self._scores(self.plain, how, seed)
                for each in tried:
                    found[each.name].append(self._scores(self.candidate(each.header), how, seed) - control)
                    done += 1
                    mean = float(np.mean(found[each.name][-1]))
                    task.update(done + seed, f"seed {seed}, {each.name}: {mean:+.4f}")
        rows = [_screened(name, differences) for name, differences in found.items()]
        return sorted(rows, key=lambda row: (-row.mean, row.name))

    def _scores(self, candidate: Candidate, how: Screen, seed: int) -> Floats:
        """Return (networks,) scores of a candidate's law after a short training; bits."""
        name = CONTROL if candidate.header is None else candidate.name
        file = self.folder / f"{seed}-{how.trials}-{how.networks}" / f"{name}.json"
        if kept := self._kept(file):
            return np.array(kept["scores"])
        with self.costs.phase("search") as cost:
            policy, trials = self._trained(candidate, how.trials, seed)
            fresh = derive(self.config.seed, "screen", seed)
            place = self.config.networks.trials(fresh, self.utility, self._execution)
            rows = place.rows({name: candidate.equip(policy, charged=True)}, Block(0, 0, how.networks))
            scores = rows.sort_values("network")["score_bits"].to_numpy(np.float64)
            cost.trials += trials + how.networks
        self._keep(file, {"scores": scores.tolist(), "policy": json.loads(dumps(PolicyFile(policy)))})
        return scores

    def _trained(self, candidate: Candidate, trials: int, seed: int) -> tuple[Policy, int]:
        """Return the base law once it has learnt what is new to it, and the trials that this took."""
        stage = StageConfig(trials=trials, features="new", width=0.5, feature_width=FEATURE_WIDTH)
        how = self.config.learner.model_copy(
            update={"stages": (stage,), "networks": NETWORKS, "check_networks": 4 * NETWORKS, "hard_networks": None}
        )
        policy, step = self._base(seed)
        task = replace(
            Learner.of(candidate, self.utility, seed, "").task(self.config),
            identity="screening",
            seed=derive(self.config.seed, "screened", seed),
            warm_start=WarmStart(policy, step),
        )
        trainer = trainer_class(how)(task, how, self.engine)
        while not trainer.done:
            trainer.step()
        return trainer.policy, trainer.learning[-1].trials

    def _base(self, seed: int) -> tuple[Policy, int]:
        """Return a base law and the steps that it took: the stages that all headers share."""
        file = self.folder / f"base-{seed}.json"
        checkpoint = self.folder / f"base-{seed}-{self.code[:12]}.training"  # which only this code goes on with
        if not self._kept(file):
            how = self.config.learner
            how = how.model_copy(update={"stages": how.stages[: how.alike]})
            task = replace(
                Learner.of(self.plain, self.utility, seed, "").task(self.config),
                identity=f"base {seed}",
                seed=derive(self.config.seed, "base", seed),
            )
            make_folder(self.folder)
            trainer = trainer_class(how)(task, how, self.engine, checkpoint=checkpoint)
            with (
                self.costs.phase("search") as cost,
                self.reporter.task(f"base law {seed}", how.budget.amount) as progress,
            ):
                progress.begin(trainer.used)
                while not trainer.done:
                    trainer.step()
                    progress.update(trainer.used, f"score {trainer.learning[-1].score_bits:.3f} bits")
                cost.trials += trainer.learning[-1].trials
            self._keep(
                file, {"step": trainer.learning[-1].step, "policy": json.loads(dumps(PolicyFile(trainer.policy)))}
            )
        checkpoint.unlink(missing_ok=True)
        kept = self._kept(file)
        return loads(json.dumps(kept["policy"])).policy, kept["step"]

    def _keep(self, file: Path, content: Mapping[str, Any]) -> None:
        make_folder(file.parent)
        write_checked(file, json.dumps({"code": self.code, **content}).encode())

    def _kept(self, file: Path) -> dict[str, Any]:
        """Return what is there by the code that runs; nothing where another has made it."""
        found = json.loads(read_checked(file, "remove it: it is made again")) if file.exists() else {}
        return found if found.get("code") == self.code else {}


def _screened(name: str, differences: list[Floats]) -> Screened:
    means = np.array([each.mean() for each in differences])
    spread = differences[0] if len(differences) == 1 else means
    return Screened(name, float(means.mean()), float(spread.std(ddof=1) / np.sqrt(len(spread))))
