"""From a campaign's configuration to the trainings that it needs, and the files that each of them keeps in a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.policy_names import policy_id
from lcca.experiments.runs.code_version import code_version
from lcca.experiments.runs.seeds import derive
from lcca.experiments.runs.version import version
from lcca.inputs.digests.files import digests_of_named_files
from lcca.inputs.errors import InputError
from lcca.inputs.files import digest_file, make_folder, read_checked, read_with_digest, write_checked
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile, loads
from lcca.signal_sets.headers.header import described
from lcca.trainers.base import Task

if TYPE_CHECKING:
    from lcca.evaluation.trials.utility import Utility
    from lcca.experiments.campaign.contract import Campaign
    from lcca.inputs.model import Model
    from lcca.signal_sets.candidate import Candidate
    from lcca.signal_sets.signal_set import SignalSet
    from lcca.trainers.base import LearningRow, TrainerConfig

FORMAT = 2
"""Of what the training cache keeps."""


def training_key(modules: tuple[str, ...], **content: Any) -> str:
    """Return 24 hex digits that name a training: its content (JSON values), this version and the code that trains.

    Args:
        modules: of the trainer, and of all that its task is made of.
        content: what is learnt, and how.
    """
    named = {"format": FORMAT, "version": version(), "code": code_version(modules), **content}
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Learner:
    """One training: a candidate, a utility, a training seed and a trainer.

    Attributes:
        id: names the learnt policy everywhere: ``<candidate>.<utility>.s<training seed>``, of several trainers with
            ``-<trainer>``.
        warms: whether it is only the warm start of others.
        trainer: its name in the campaign; empty where there is one only.
    """

    id: str
    candidate: Candidate
    utility: Utility
    training_seed: int
    warms: bool = False
    trainer: str = ""

    @classmethod
    def of(cls, candidate: Candidate, utility: Utility, training_seed: int, trainer: str) -> Learner:
        """Return a training by what is trained."""
        id = policy_id(candidate.name, utility.name, training_seed, trainer)
        return cls(id, candidate, utility, training_seed, trainer=trainer)

    @property
    def signals(self) -> SignalSet:
        """What the policy sees."""
        return self.candidate.signals

    @property
    def header(self) -> str | dict[str, Any] | None:
        """The header that its policy is tested with, as policy files have it."""
        return None if self.candidate.header is None else described(self.candidate.header)

    def trained_by(self, config: Campaign) -> TrainerConfig:
        """Return the configuration of its trainer."""
        return config.named_trainers[self.trainer]

    def key(self, config: Campaign) -> str:
        """Return the name of the training's content: equal trainings of any campaigns have the same."""
        start, rivals = self.warm_start(config), self.rivals(config)
        table = config.starts.get(self.candidate.name)
        begun: dict[str, Any] = {} if start is None else {"warm_start": start.key(config)}
        begun |= {} if table is None else {"start": table.digest}
        if rivals:
            begun["rivals"] = [rival.key(config) for rival in rivals]
        return self._key(config, candidate=self.candidate.content(), **begun)

    def shared_key(self, config: Campaign) -> str:
        """Return the name of what trainings have in common that differ in their candidate alone.

        Where signals take bytes of packets, they have nothing in common, unless trainings begin without them.
        """
        free = config.networks.free_signals or self.trained_by(config).begins_without_header
        alone = {} if free else {"candidate": self.candidate.content()}
        return self._key(config, shared=True, **alone)

    def warm_start(self, config: Campaign) -> Learner | None:
        """Return the training whose policy this one goes on from; None if it begins from nothing."""
        if self.warms or config.start != "baseline":
            return None
        base = next(c for c in config.candidates if c.name == config.baseline)
        name = policy_id("warm-start", self.utility.name, self.training_seed, self.trainer)
        return replace(self, id=name, candidate=base, warms=True)

    def rivals(self, config: Campaign) -> list[Learner]:
        """Return the trainings whose tables this one may go on from: of the largest sets whose signals it has too.

        A policy can ignore signals, so that one with more signals need not be worse. Signals that come through a header
        are another's only where nothing else carries them.
        """
        if config.rivals != "subsets" or not self.trained_by(config).rivals:
            return []
        inside = [each for each in config.candidates if _inside(each, self.candidate, config.base)]
        largest = [each for each in inside if not any(_inside(each, other, config.base) for other in inside)]
        return [Learner.of(each, self.utility, self.training_seed, self.trainer) for each in largest]

    def needs(self, config: Campaign) -> list[Learner]:
        """Return the trainings that must be finished before this one begins, in their order."""
        start = self.warm_start(config)
        needed = [start] if start is not None else []
        for rival in self.rivals(config):
            needed += [*rival.needs(config), rival]
        return list(dict.fromkeys(needed))

    def depth(self, config: Campaign) -> int:
        """Return how many trainings follow one another before this one can begin."""
        before = [*filter(None, [self.warm_start(config)]), *self.rivals(config)]
        return max((1 + each.depth(config) for each in before), default=0)

    def _key(self, config: Campaign, **content: Any) -> str:
        trainer = self.trained_by(config)
        makers = (type(trainer), type(config.networks), type(self.utility), type(self.candidate))
        modules = (trainer.trainer.partition(":")[0], *(maker.__module__ for maker in makers))
        return training_key(
            modules,
            space=_with_files(config.networks),
            utility=self.utility.content(),
            seed=derive(config.seed, "training", self.training_seed),
            trainer=_with_files(trainer),
            model=config.model.model_dump(mode="json"),
            **content,
        )

    def task(self, config: Campaign) -> Task:
        """Return what the trainer has to learn. All candidates meet the same training networks under one seed.

        Headers are free while a policy learns: it is the signals that are learnt to be used. Their bytes are charged
        when it is tested.
        """
        hard, space = self.trained_by(config).hard_networks, config.networks
        return Task(
            identity=self.key(config),
            signals=self.signals.signals,
            space=space if hard is None or isinstance(space, FabricSpace) else hard.beside(space),
            utility=self.utility,
            seed=derive(config.seed, "training", self.training_seed),
            header=self.candidate.learning.stamping(charged=False),
        )


def _with_files(model: Model) -> dict[str, Any]:
    """Return a model as JSON values, with a digest of each file that it names."""
    files = digests_of_named_files(model)
    return model.model_dump(mode="json") | ({"files": files} if files else {})


def _inside(part: Candidate, whole: Candidate, base: SignalSet) -> bool:
    """Tell whether all that a policy sees of one candidate is seen, alike, of another with more signals."""
    known = set(part.signals.signals)
    alike = part.header is None and (whole.header is None or known <= set(base.signals))
    return alike and known < set(whole.signals.signals)


def learners(config: Campaign, seeds: Sequence[int]) -> list[Learner]:
    """Return a campaign's trainings with these training seeds, seed by seed, so that early results span candidates."""
    return [
        Learner.of(candidate, utility.build(), seed, trainer)
        for utility in config.utilities
        for seed in seeds
        for trainer in config.named_trainers
        for candidate in config.candidates
    ]


def in_groups(config: Campaign, seeds: Sequence[int]) -> list[list[Learner]]:
    """Return the trainings with these training seeds, and their warm starts, in groups.

    Each group needs the groups before it alone.
    """
    plan, groups = learners(config, seeds), dict[int, list[Learner]]()
    starts = dict.fromkeys(start for each in plan if (start := each.warm_start(config)) is not None)
    for each in (*starts, *plan):
        groups.setdefault(each.depth(config), []).append(each)
    return [groups[depth] for depth in sorted(groups)]


@dataclass(frozen=True)
class Rounds:
    """Where a training of a run keeps its state and its policies: one file a round, each with its digest beside it."""

    run: Path
    learner: Learner

    @property
    def checkpoint(self) -> Path:
        """The file that the training goes on from."""
        return layout.training_file(self.run, self.learner.id)

    def own(self, rows: Sequence[LearningRow]) -> tuple[int, int]:
        """Return the trials and packets that the training took itself: not those of the cache, or shared before it.

        What was there is noted when it is asked for first, which must be before the first step.
        """
        file, now = self.checkpoint.with_suffix(".begun"), (rows[-1].trials, rows[-1].packets) if rows else (0, 0)
        if not file.exists():
            write_checked(file, json.dumps(now).encode())
        trials, packets = json.loads(read_checked(file, "remove it: only a note of costs is lost"))
        return now[0] - trials, now[1] - packets

    @property
    def folder(self) -> Path:
        """The folder of the policy files."""
        return layout.checkpoints(self.run, self.learner.id)

    @property
    def advice(self) -> str:
        """What to do about a policy file that is lost or damaged."""
        return f"remove {self.checkpoint} and resume to train it again"

    def file(self, round_: int) -> Path:
        """Return the file of a round, counted from 0."""
        return layout.checkpoint_file(self.run, self.learner.id, round_ + 1)

    def files(self) -> list[Path]:
        """Return the files of all rounds, in order."""
        return layout.checkpoint_files(self.run, self.learner.id)

    def write(self, file: Path, policy: PolicyFile) -> None:
        """Write a policy file."""
        make_folder(self.folder)
        policyfile.write(file, policy, digest=True)

    def text(self, file: Path) -> str:
        """Return the content of a policy file.

        Raises:
            InputError: it is lost or damaged.
        """
        for part in (file, digest_file(file)):
            if not part.exists():
                raise InputError(f"{part}: is gone; {self.advice}")
        return read_with_digest(file, self.advice).decode()

    def read(self, file: Path) -> PolicyFile:
        """Return a policy file; see `text`."""
        return loads(self.text(file))
