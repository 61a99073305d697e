"""A map's configuration: whose trainings, over which parameters and how widely, and when it is settled."""

from __future__ import annotations

import hashlib
import itertools
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field, field_validator, model_validator

from lcca.evaluation.comparison.sets import FIRST_SEEDS
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.scenarios.networks import PARAMETERS, NetworkSpace, Range
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, SCORE, Metric
from lcca.evaluation.trials.utility import Utility
from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.campaign.trials import Networks, once
from lcca.experiments.learning.plan import Learner, learners
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.folder import default_folder
from lcca.experiments.runs.kinds import Kind
from lcca.inputs.errors import InputError, about, did_you_mean, require
from lcca.inputs.files import read_limited
from lcca.inputs.names import FileOrName
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.maps.axes import Axis

MAP = Kind("map", (layout.CONFIG, layout.SUMMARY), "lcca.studies.maps.recipe")


class MapConfig(RunConfig):
    """A map: where in a space, or on a fabric, a signal set or a header is better than another, over training seeds.

    Attributes:
        campaign: file of the campaign whose policies meet: it says the signal sets and headers, the space, and when a
            difference is settled.
        run: the folder of its run, which may be unfinished; the usual one if empty. Training seeds count that every set
            of the map has finished.
        trainer: by whose name its policies were learnt, of a campaign with several.
        utility: that they were trained for; the campaign's first if empty.
        over: parameters of the map; all others are drawn from the space. On a fabric dotted keys of numbers of the
            scenario, such as `workload.load`; all else is as it says.
        pairs: sets to compare, each the baseline and the candidate; the campaign's baseline with every other if empty.
        metrics: of what there is a map, from `score_bits` to any other column of trials with a better direction, whose
            ratios are compared. α is shared among all pairs and metrics.
        networks: a space in place of the campaign's, or a file with it; with `fabric` one scenario.
        within: ranges in place of the space's, such as wider ones; on a fabric those of all keys of `over`.
        mix: traffic of which shares are said too: a space of networks, or a file with it; on a fabric `fabric` with
            scenarios, each an equal part, which say all of `over`.
        points: most networks that each training meets, or on a fabric variants of the scenario.
        looks: equal parts of the points, after each of which new ones go where something is open.
        margin_percent: throughput-equivalent per cent that do not matter; the campaign's unless given.
        alpha: error rate of the whole map; the campaign's unless given.
    """

    run_kind = MAP

    campaign: FileOrName
    run: str = ""
    trainer: str = ""
    utility: str = ""
    over: Annotated[tuple[str, ...], Field(min_length=1)]
    pairs: tuple[Annotated[tuple[str, ...], Field(min_length=2, max_length=2)], ...] = ()
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] = (SCORE.name,)
    networks: Networks | None = None
    within: dict[str, Range] = Field(default_factory=dict)
    mix: Networks | None = None
    points: Annotated[int, Field(ge=64, le=4096)] = 512
    looks: Annotated[int, Field(ge=1, le=16)] = 4
    margin_percent: Annotated[float, Field(gt=0)] | None = None
    alpha: Annotated[float, Field(gt=0, lt=1)] | None = None

    @field_validator("within", mode="before")
    @classmethod
    def _dotted(cls, value: Any) -> Any:
        """Let keys of a scenario be keys in keys too, as `--set within.workload.load=…` makes them."""
        if not isinstance(value, dict):
            return value
        found: dict[str, Any] = {}
        for key, each in value.items():
            whole = not isinstance(each, dict) or each.keys() & Range.model_fields.keys()
            found |= {key: each} if whole else {f"{key}.{name}": own for name, own in cls._dotted(each).items()}
        return found

    @model_validator(mode="after")
    def _fits(self) -> MapConfig:
        once(self.over), once(self.metrics)
        known = [name for name, each in self._metrics.items() if each.better]
        for i, name in enumerate(self.metrics):
            with about(f"metrics.{i}"):
                require(name in known, f"{name!r} is no metric with a better direction{did_you_mean(name, known)}")
        sets = [each.name for each in self.trained_by.candidates]
        for name in (each for pair in self.compared for each in pair):
            with about("pairs"):
                require(name in sets, f"the campaign has no set {name!r}{did_you_mean(name, sets)}")
        with about("utility"):
            names = [each.name for each in self.trained_by.utilities]
            require(self.utility in ("", *names), f"the campaign trains for {', '.join(names)}")
        with about("trainer"):
            trainers = list(self.trained_by.named_trainers)
            require(self.trainer in trainers, f"name one of the campaign's: {', '.join(trainers)}")
        with about("over"):
            for axis in self.axes:
                require(len(axis.levels) > 1, f"{axis.name} has one level; give it a range in `within`")
        if isinstance(self.space, FabricSpace):
            for corner in itertools.product(*((axis.levels[0], axis.levels[-1]) for axis in self.axes)):
                self.space.changed(dict(zip(self.over, corner, strict=True)))
        self._require_mix()
        return self

    def _require_mix(self) -> None:
        if self.mix is None:
            return
        with about("mix"):
            like = "scenarios, as in {fabric: [FILE, FILE]}" if isinstance(self.space, FabricSpace) else "one space"
            require(type(self.mix) is type(self.space), f"must be {like}")
            for axis in self.axes:
                if isinstance(self.mix, FabricSpace):
                    own = sorted(row[0] for row in self.mix.numbers([axis.name]))
                else:
                    own = cast(NetworkSpace, self.mix).levels_of(axis.name)
                low, high = own[0], own[-1]
                inside = axis.levels[0] <= low <= high <= axis.levels[-1]
                require(inside, f"{axis.name} is from {low:g} to {high:g}, beyond the map; widen it in `within`")

    @cached_property
    def trained_by(self) -> CampaignConfig:
        """The campaign."""
        return read_campaign(self.campaign)

    @cached_property
    def space(self) -> NetworkSpace | FabricSpace:
        """Where the policies meet."""
        base = self.networks or self.trained_by.networks
        with about("networks"):
            if isinstance(base, FabricSpace):
                several = "the campaign has several scenarios: name the one to map, as in networks={fabric: FILE}"
                require(len(base.scenarios) == 1, several)
                return base
            require(isinstance(base, NetworkSpace), "the campaign has several spaces: name the one to map")
            for name in (*self.over, *self.within):
                require(name in PARAMETERS, f"they have no {name!r}{did_you_mean(name, PARAMETERS)}")
        ranges = {name: each.model_dump() for name, each in self.within.items()}
        return NetworkSpace.model_validate(base.model_dump(mode="json") | ranges)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The parameters of the map."""
        if isinstance(self.space, NetworkSpace):
            return tuple(Axis(name, tuple(self.space.levels_of(name))) for name in self.over)
        other = ", ".join(sorted({*self.over} ^ {*self.within}))
        example = f"within={{{self.over[0]}: {{min: 1, max: 8, step: 1}}}}"
        require(not other, f"{other}: a fabric needs ranges of all of `over` and no others, as in {example}")
        return tuple(Axis(name, tuple(self.within[name].values())) for name in self.over)

    @property
    def compared(self) -> tuple[tuple[str, ...], ...]:
        """The pairs of sets, each the baseline and the candidate."""
        base = self.trained_by.baseline
        return self.pairs or tuple((base, each.name) for each in self.trained_by.candidates if each.name != base)

    @property
    def measured(self) -> list[Metric]:
        """The metrics."""
        return [self._metrics[name] for name in self.metrics]

    @property
    def _metrics(self) -> dict[str, Metric]:
        if isinstance(self.space, NetworkSpace):
            return NETWORK_TRIALS
        (scenario,) = self.space.scenarios
        told = {"rounds": scenario.has_rounds, "events": bool(scenario.events), "sizes": False}
        return {each.name: each for each in (SCORE, *FABRIC_TRIALS.values()) if told.get(each.needs, True)}

    @property
    def scored_by(self) -> Utility:
        """The utility."""
        known = {each.name: each for each in self.trained_by.utilities}
        return known[self.utility or next(iter(known))].build()

    @property
    def error_rate(self) -> float:
        """α of one pair and metric."""
        whole = self.trained_by.settle.alpha if self.alpha is None else self.alpha
        return whole / (len(self.compared) * len(self.metrics))

    @property
    def margin(self) -> float:
        """Per cent that do not matter."""
        return self.margin_percent or self.trained_by.settle.margin_percent

    @property
    def ends(self) -> list[int]:
        """Points at the looks."""
        return [-(-self.points * look // self.looks) for look in range(1, self.looks + 1)]

    @cached_property
    def trainings(self) -> dict[int, dict[str, Training]]:
        """By training seed that all sets have finished, and set, what was trained.

        Raises:
            InputError: there are fewer such seeds than a statement over training seeds needs.
        """
        folder = Path(self.run) if self.run else default_folder(self.trained_by)
        sets = {name for pair in self.compared for name in pair}
        found: dict[int, dict[str, Training]] = {}
        for each in learners(self.trained_by, self.trained_by.seeds):
            asked = (self.scored_by.name, self.trainer) == (each.utility.name, each.trainer)
            if asked and each.candidate.name in sets and (file := self._finished(folder, each)) is not None:
                found.setdefault(each.training_seed, {})[each.candidate.name] = Training(each, file)
        whole = {seed: own for seed, own in found.items() if own.keys() == sets}
        words = f"{len(whole)} training seeds with finished trainings of {', '.join(sorted(sets))}"
        advice = f"train more with lcca sweep {self.campaign} --until trained, or name a run's folder in `run`"
        if len(whole) < FIRST_SEEDS:
            raise self.problem(("run",), f"{folder}: {words}, and a map needs {FIRST_SEEDS}; {advice}")
        return whole

    def _finished(self, folder: Path, learner: Learner) -> Path | None:
        """Return a training's selected policy, or where none is selected yet the last one of a finished training."""
        selected, rounds = layout.policy_file(folder, learner.id), layout.checkpoint_files(folder, learner.id)
        done = len(rounds) == learner.trained_by(self.trained_by).policies
        return selected if selected.exists() else rounds[-1] if done else None

    def _named(self) -> dict[str, Any]:
        trained = {each.learner.id: each.digest for own in self.trainings.values() for each in own.values()}
        return {"trained_by": self.trained_by.content, "trainings": trained}


class Training:
    """A finished training.

    Attributes:
        learner: what was trained.
        file: with its policy.
        digest: of the file.
    """

    def __init__(self, learner: Learner, file: Path) -> None:
        self.learner, self.file = learner, file
        self.digest = hashlib.sha256(read_limited(file)).hexdigest()[:16]

    @cached_property
    def policy(self) -> Policy:
        """The policy as it meets networks, with the bytes of its header charged.

        Raises:
            InputError: the file is damaged, or of another signal set.
        """
        content, wanted = policyfile.read(self.file), self.learner.signals.name
        if content.signal_set not in (None, wanted):
            raise InputError(f"{self.file}: learnt from {content.signal_set}, not from {wanted}")
        return self.learner.candidate.equip(content.policy, charged=True)
