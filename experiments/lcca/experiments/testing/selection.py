"""Picking each training's checkpoint on validation networks, which neither training nor the report uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Block
from lcca.experiments.learning.plan import Learner, Rounds
from lcca.experiments.runs.seeds import derive
from lcca.experiments.testing.chosen import Chosen
from lcca.experiments.testing.places import in_ns3, place_of
from lcca.inputs.errors import InputError
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import RuleTable

if TYPE_CHECKING:
    from lcca.experiments.campaign.running import CampaignRun
    from lcca.experiments.campaign.trials import Ns3Config


def choose(run: CampaignRun, learner: Learner) -> Chosen:
    """Run all checkpoints of a training on the validation networks; write the best one to policies/<id>.json."""
    rounds, wanted = Rounds(run.path, learner), run.config.validation
    kept = {f"{learner.id}.{file.stem}": rounds.read(file) for file in rounds.files()}
    policies = {id: learner.candidate.learning.equip(file.policy) for id, file in kept.items()}
    place = place_of(run, derive(run.config.seed, "validation"), learner.utility)
    phase = run.phase(layout.VALIDATION)
    rows = phase.part(learner.id, run=lambda: place.rows(policies, Block(0, 0, wanted.networks)))
    scores = rows.groupby("policy")["score_bits"].mean()
    if set(scores.index) != set(kept):
        raise InputError(f"{rounds.folder}: not the checkpoints that were validated; {rounds.advice}")
    ranked = sorted(kept, key=lambda id: (scores[id], id), reverse=True)
    best = ranked[0]
    if wanted.ns3 is not None and wanted.ns3.pick == "ns3":
        best = _best_in_ns3(run, wanted.ns3, learner, {id: policies[id] for id in ranked[: wanted.ns3.finalists]})
    policyfile.write(layout.policy_file(run.path, learner.id), kept[best], digest=True)
    tables = [kept[id].policy for id in reversed(ranked)]
    by_rules = {len(table): table for table in tables if isinstance(table, RuleTable)}
    checkpoint, score = f"{best.rpartition('.')[2]}.json", float(np.float64(scores[best]))
    return Chosen(learner, checkpoint, kept[best].policy, score, by_rules)


def _best_in_ns3(run: CampaignRun, wanted: Ns3Config, learner: Learner, finalists: dict[str, Policy]) -> str:
    """Return the checkpoint with the best mean score in ns-3, on networks that are the same for all trainings."""
    seed, space = derive(run.config.seed, "validation"), run.config.network_space
    seeds = [derive(run.config.seed, "validation", "ns3", k) for k in range(wanted.runs)]
    place = space.trials(seed, learner.utility, in_ns3(run), seeds)
    phase = run.phase(layout.NS3_SELECTION)
    rows = phase.part(learner.id, run=lambda: place.rows(finalists, Block(0, 0, wanted.networks)))
    scores = rows.groupby("policy")["score_bits"].mean()
    return max(finalists, key=lambda id: (scores[id], id))
