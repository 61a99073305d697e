"""Picking each training's checkpoint on validation networks, which neither training nor the report uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from lcca.evaluation.comparison.net_benefit import CHARGED
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Block
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.plan import Learner
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.learning.rounds import Rounds
from lcca.experiments.sweep.ns3.checkpoints import score_checkpoints
from lcca.experiments.sweep.source import source_of
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import RuleTable


@dataclass(frozen=True)
class Chosen:
    """A training's policy: its best checkpoint.

    Attributes:
        learner: the training.
        checkpoint: file name of the round, as in ``round-02.json``.
        policy: as it was learnt.
        validation_score_bits: its mean score on the validation networks, in the fast engine.
        by_rules: for each number of rules that checkpoints of the training had, the best of them by the same score;
            empty for policies that are no rule tables.
    """

    learner: Learner
    checkpoint: str
    policy: Policy
    validation_score_bits: float
    by_rules: Mapping[int, Policy]

    @property
    def rules(self) -> int:
        """How many rules it has; 0 for what is no table."""
        return len(self.policy) if isinstance(self.policy, RuleTable) else 0

    @property
    def free(self) -> Policy:
        """The policy as simulators run it, with the bytes of its header free."""
        return self.learner.candidate.equip(self.policy)

    @property
    def charged(self) -> Policy:
        """The policy as simulators run it, with the bytes of its header charged."""
        return self.learner.candidate.equip(self.policy, charged=True)

    @property
    def endings(self) -> tuple[str, ...]:
        """What its id ends with in test trials: nothing, and `CHARGED` if its header has bytes."""
        return ("", CHARGED) if self.learner.candidate.costs else ("",)

    @property
    def tested(self) -> dict[str, Policy]:
        """The policy by its id in test trials: with its header's bytes free, and charged if it has any."""
        return {self.learner.id + end: self.charged if end else self.free for end in self.endings}

    def at(self, rules: int) -> Policy:
        """Return the best checkpoint with so many rules as simulators run it, with the bytes of its header free."""
        return self.learner.candidate.equip(self.by_rules[rules])


def choose(run: Run[CampaignConfig, Engine], learner: Learner) -> Chosen:
    """Run all checkpoints of a training on the validation networks; write the best one to policies/<id>.json."""
    rounds = Rounds(run.path, learner)
    files = rounds.files()
    rows = run.phase(layout.VALIDATION).part(learner.id, run=lambda: _validate(run, rounds))
    scores = rows.groupby("policy")["score_bits"].mean()
    if set(scores.index) != {_checkpoint_id(learner, f) for f in files}:
        raise InputError(f"{rounds.folder}: not the checkpoints that were validated; {rounds.advice}")
    ranked = sorted(files, key=lambda f: (scores[_checkpoint_id(learner, f)], f.name), reverse=True)
    wanted = run.config.validation.ns3
    if wanted is not None and wanted.pick == "ns3":
        best = _best_in_ns3(run, rounds, ranked[: wanted.finalists])
    else:
        best = ranked[0]
    kept = rounds.read(best)
    policyfile.write_with_its_digest(layout.policy_file(run.path, learner.id), kept)
    score = float(np.float64(scores[_checkpoint_id(learner, best)]))
    return Chosen(learner, best.name, kept.policy, score, _by_rules(rounds, ranked))


def _by_rules(rounds: Rounds, ranked: list[Path]) -> dict[int, Policy]:
    """Return the best rule table of each size; `ranked` are all checkpoints, the best first."""
    tables = [policy for file in ranked for policy in [rounds.read(file).policy] if isinstance(policy, RuleTable)]
    return {len(table): table for table in reversed(tables)}


def _best_in_ns3(run: Run[CampaignConfig, Engine], rounds: Rounds, finalists: list[Path]) -> Path:
    """Return the checkpoint with the best mean score in ns-3."""
    learner, policies = rounds.learner, _policies(rounds, finalists)
    rows = run.phase(layout.NS3_SELECTION).part(learner.id, run=lambda: score_checkpoints(run, learner, policies))
    scores = rows.groupby("policy")["score_bits"].mean()
    return max(finalists, key=lambda f: (scores[_checkpoint_id(learner, f)], f.name))


def _validate(run: Run[CampaignConfig, Engine], rounds: Rounds) -> pd.DataFrame:
    config = run.config
    seed = derive(config.seed, "validation")
    policies = _policies(rounds, rounds.files())
    return source_of(run, seed, rounds.learner.utility).rows(policies, Block(0, 0, config.validation.networks))


def _policies(rounds: Rounds, files: list[Path]) -> dict[str, Policy]:
    learner = rounds.learner
    return {_checkpoint_id(learner, f): learner.candidate.equip(rounds.read(f).policy) for f in files}


def _checkpoint_id(learner: Learner, file: Path) -> str:
    return f"{learner.id}.{file.stem}"
