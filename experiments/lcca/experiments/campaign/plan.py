"""From a campaign's configuration to the trainings that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.trials.utility import Utility
from lcca.experiments.campaign.candidates import Candidate
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.runs.policy_names import policy_id
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.learning.cache import training_key
from lcca.inputs.dependencies import digests_of_named_files
from lcca.remy_plus.policies.rules import RuleTable
from lcca.signal_sets.signal_set import SignalSet
from lcca.trainers.base import Task


@dataclass(frozen=True)
class Learner:
    """One training: a candidate, a utility and a training seed.

    Attributes:
        id: names the learnt policy everywhere: ``<candidate>.<utility>.s<training seed>``.
        warms: whether it is only the warm start of others.
    """

    id: str
    candidate: Candidate
    utility: Utility
    training_seed: int
    warms: bool = False

    @property
    def signals(self) -> SignalSet:
        """What the policy sees."""
        return self.candidate.signals

    def key(self, config: CampaignConfig) -> str:
        """Return the name of the training's content: equal trainings of any campaigns have the same."""
        start, table, rivals = self.warm_start(config), self.start(config), self.rivals(config)
        begun: dict[str, Any] = {} if start is None else {"warm_start": start.key(config)}
        begun |= {} if table is None else {"start": table.digest}
        if rivals:
            begun["rivals"] = [rival.key(config) for rival in rivals]
        return self._key(config, candidate=self.candidate.content(), **begun)

    def shared_key(self, config: CampaignConfig) -> str:
        """Return the name of what trainings have in common that differ in their candidate alone.

        On a fabric they have nothing in common: stamps of hops have bytes.
        """
        alone = {"candidate": self.candidate.content()} if isinstance(config.networks, FabricSpace) else {}
        return self._key(config, shared=True, **alone)

    def warm_start(self, config: CampaignConfig) -> Learner | None:
        """Return the training whose policy this one goes on from; None if it begins from nothing."""
        if self.warms or config.start != "baseline":
            return None
        base = next(c for c in config.candidates if c.name == config.baseline)
        name = policy_id("warm-start", self.utility.name, self.training_seed)
        return Learner(name, base, self.utility, self.training_seed, warms=True)

    def start(self, config: CampaignConfig) -> RuleTable | None:
        """Return the given table that this training begins with, if there is one."""
        return config.starts.get(self.candidate.name)

    def rivals(self, config: CampaignConfig) -> list[Learner]:
        """Return the trainings whose tables this one may go on from: of the largest sets whose signals it has too.

        A policy can ignore signals, so that one with more signals need not be worse. Signals that come through a header
        are another's only where nothing else carries them.
        """
        if config.rivals != "subsets":
            return []
        inside = [each for each in config.candidates if _inside(each, self.candidate, config.base)]
        largest = [each for each in inside if not any(_inside(each, other, config.base) for other in inside)]
        return [replace(self, id=_id(each, self), candidate=each) for each in largest]

    def needs(self, config: CampaignConfig) -> list[Learner]:
        """Return the trainings that must be finished before this one begins, in their order."""
        start = self.warm_start(config)
        found = [start] if start is not None else []
        for rival in self.rivals(config):
            found += [*rival.needs(config), rival]
        return list(dict.fromkeys(found))

    def _key(self, config: CampaignConfig, **content: Any) -> str:
        trainer = config.trainer
        makers = (type(trainer), type(config.networks), type(self.utility), type(self.candidate))
        files = digests_of_named_files(config.networks)
        modules = (trainer.trainer.partition(":")[0], *(maker.__module__ for maker in makers))
        return training_key(
            modules,
            space=config.networks.model_dump(mode="json") | ({"files": files} if files else {}),
            utility=self.utility.content(),
            seed=derive(config.seed, "training", self.training_seed),
            trainer=trainer.model_dump(mode="json"),
            model=config.model.model_dump(mode="json"),
            **content,
        )

    def task(self, config: CampaignConfig) -> Task:
        """Return what the trainer has to learn. All candidates meet the same training networks under one seed.

        Headers are free while a policy learns: it is the signals that are learnt to be used. Their bytes are charged
        when it is tested.
        """
        return Task(
            identity=self.key(config),
            signals=self.signals.signals,
            space=config.networks,
            utility=self.utility,
            seed=derive(config.seed, "training", self.training_seed),
            header=self.candidate.stamping(charged=False),
        )


def _id(candidate: Candidate, learner: Learner) -> str:
    return policy_id(candidate.name, learner.utility.name, learner.training_seed)


def _inside(part: Candidate, whole: Candidate, base: SignalSet) -> bool:
    """Tell whether all that a policy sees of one candidate is seen, alike, of another with more signals."""
    known = set(part.signals.signals)
    alike = part.header is None and (whole.header is None or known <= set(base.signals))
    return alike and known < set(whole.signals.signals)


def waves(config: CampaignConfig, plan: Sequence[Learner]) -> list[list[Learner]]:
    """Return trainings in groups, each of which needs the groups before it alone."""
    by_depth: dict[int, list[Learner]] = {}
    for learner in plan:
        by_depth.setdefault(_depth(learner, config), []).append(learner)
    return [by_depth[depth] for depth in sorted(by_depth)]


def _depth(learner: Learner, config: CampaignConfig) -> int:
    return max((1 + _depth(rival, config) for rival in learner.rivals(config)), default=0)


def learners(config: CampaignConfig, seeds: Sequence[int]) -> list[Learner]:
    """Return a campaign's trainings with these training seeds, seed by seed, so that early results span candidates."""
    return [
        Learner(policy_id(candidate.name, utility.name, seed), candidate, utility.build(), seed)
        for utility in config.utilities
        for seed in seeds
        for candidate in config.candidates
    ]


def warm_starts(config: CampaignConfig, seeds: Sequence[int]) -> list[Learner]:
    """Return the trainings that those with these training seeds go on from, which come first."""
    found = [learner.warm_start(config) for learner in learners(config, seeds)]
    return list(dict.fromkeys(start for start in found if start is not None))
