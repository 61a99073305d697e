"""A campaign's configuration: which networks, signal sets and utilities, how to train, how to settle."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, Union, cast

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.scenarios.networks import DrawnNetworks, PacketBytes
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.rules import AnyRule, SettlingRule
from lcca.evaluation.trials.utilities import UtilityModel
from lcca.experiments.campaign.checks import check_designed, check_place
from lcca.experiments.campaign.headers import HeaderEntry, header_candidates
from lcca.experiments.campaign.trials import (
    GeneralisationConfig,
    Networks,
    PerNetworkConfig,
    SeedsConfig,
    TestConfig,
    TrainingSeeds,
    ValidationConfig,
    WholeBlocks,
    filled_in,
    once,
)
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.grid import read_one
from lcca.experiments.runs.kinds import SWEEP
from lcca.inputs.errors import InputError, about, did_you_mean, require
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.inputs.names import NAMES_A_FILE, YAML_ENDINGS, FileOrName
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.core.formulas import formulas, require_no_hosts
from lcca.remy_plus.engine import Model as EngineModel
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.signal_sets.candidate import Candidate
from lcca.signal_sets.headers.header import Header, header
from lcca.signal_sets.load import Place, resolve
from lcca.signal_sets.signal_set import SignalSet, packaged_sets, signal_set
from lcca.trainers.base import TrainerConfig
from lcca.trainers.registry import configurations


def _named(value: Any) -> Any:
    return signal_set(value) if isinstance(value, str) else value


def _name_or_content(signals: SignalSet) -> str | dict[str, Any]:
    packaged = packaged_sets().get(signals.name) == signals
    return signals.name if packaged else signals.model_dump(mode="json")


NamedSet = Annotated[SignalSet, NAMES_A_FILE, BeforeValidator(_named), PlainSerializer(_name_or_content)]
"""A signal set: the name of a packaged one, a YAML file, or written out in the campaign's file."""


def _header(value: Any) -> Any:
    return header(value) if isinstance(value, str) else value


if TYPE_CHECKING:
    AnyTrainer: TypeAlias = TrainerConfig
else:
    AnyTrainer = Annotated[
        Union[tuple(configurations().values())],  # noqa: UP007
        Discriminator("kind"),
        BeforeValidator(lambda value: {"kind": "rplus", **value} if isinstance(value, dict) else value),
    ]
    """A trainer by its `kind`; the R+ search where none is named."""

TrainerName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=20)]
"""How a campaign with several trainers calls one of them; a part of the names of its policies."""

MOST_TRAINERS = 4
"""Of a campaign: with the best of up to so many, verdicts over training seeds keep their error rate."""


class LinkModel(Model):
    """Options of the network model; see `lcca.remy_plus.engine.Model`.

    Attributes:
        link_interval: µs over which the link signal is collected (the paper's 10).
        rplus_link_window: divide by the whole interval even where less time was covered, as R+ does.
    """

    units: ClassVar[Mapping[str, str]] = {"link_interval": "us"}

    link_interval: Annotated[float, Field(gt=0)] = 10.0
    rplus_link_window: bool = False

    def build(self) -> EngineModel:
        """Return the engine's form."""
        return EngineModel(self.link_interval, self.rplus_link_window)

    @property
    def provenance(self) -> dict[str, object]:
        """What policy files say of it, so that they run in it again; nothing of the usual model."""
        interval = {} if self.link_interval == EngineModel().link_interval else {"link_interval_us": self.link_interval}
        return interval | ({"link_window": "rplus"} if self.rplus_link_window else {})


class CampaignConfig(RunConfig):
    """A campaign: learn a policy per signal set and utility, compare them on fresh networks.

    Attributes:
        networks: the space that networks are drawn from, or a file with it; `spaces` with several; or `fabric` with a
            scenario, or several, or files with them: trials are on seeds then.
        signal_sets: names of packaged sets, files, or sets written out.
        headers: what carries signals of the network: names of the catalogue, files, descriptions, or grids over their
            fields. Each is a candidate beside the signal sets: its signals are the baseline's and those it carries.
        learnt_with: a header with which the policies of all `headers` learn and are validated, in place of their own:
            so each is tested with one that its policy was not trained with.
        packet_bytes: of a data packet without headers: what their bytes are charged against, and what rates and sizes
            of `networks` with a unit are counted in. A fabric says it.
        baseline: the signal set that the others are compared with, by its name or its file.
        utilities: names of the paper's utilities, or name and weights.
        trainer: how to learn.
        trainers: in its place up to four, by names of the user's: all learn from every signal set with every training
            seed. A set is worth what the trainer gives whose policies have the best mean score on the validation
            networks; summaries and reports have a row for each trainer beside.
        start: "scratch": every search begins with one rule, as the paper's do; "baseline": a first training with the
            baseline's signals comes before, and all searches, the baseline's too, go on from its rules with a budget of
            their own; names of candidates with files of rule tables: those begin with that table, whose pacing they
            keep, the others with one rule.
        rivals: "subsets": a training with more signals may go on from a finished table of the same training seed for
            some of them, wherever that is better; "none": all learn apart. Each trainer goes on from its own alone;
            of several, those that cannot go on learn apart.
        hand_designed: policies of the engine, on a fabric its transports, that are tested beside the selected ones,
            such as rcp or fair-rate:share=0.97: where one is better than what was learnt from its signals, it is the
            learner that found no use for them.
        training_seeds: each candidate is trained once per seed: a list of seeds, or `auto` (`{first: 5, most: 24}`)
            to add seeds until every comparison of candidates is settled.
        validation: networks that pick a training's checkpoint.
        test: networks that results are reported on.
        per_network: repeated trials of all trainings on single networks, of several trainers those of each set's best;
            left out if null.
        generalisation: other networks or topologies on which the same trainings are tested too.
        settle: when a comparison is settled.
        required_percent: throughput-equivalent percent that a header must bring, its bytes charged, to pay for itself:
            the threshold τ of its decision.
        model: options of the network model.
    """

    run_kind = SWEEP

    networks: Networks
    signal_sets: Annotated[tuple[NamedSet, ...], Field(min_length=1)]
    baseline: Annotated[FileOrName, Field(validate_default=True)] = "e2e"
    headers: tuple[HeaderEntry, ...] = ()
    learnt_with: Annotated[Header | None, NAMES_A_FILE, BeforeValidator(_header)] = None
    packet_bytes: Annotated[PacketBytes, Field(validate_default=True)] = PACKET_BYTES
    utilities: Annotated[tuple[UtilityModel, ...], Field(min_length=1)] = (UtilityModel.model_validate("default"),)
    trainer: AnyTrainer | None = None
    trainers: Annotated[dict[TrainerName, AnyTrainer], Field(min_length=1, max_length=MOST_TRAINERS)] | None = None
    start: Literal["scratch", "baseline"] | dict[str, FileOrName] = "scratch"
    rivals: Literal["none", "subsets"] = "none"
    hand_designed: tuple[FileOrName, ...] = ()
    training_seeds: TrainingSeeds = (1,)
    validation: Annotated[ValidationConfig, Field(validate_default=True)] = ValidationConfig()
    test: Annotated[TestConfig, Field(validate_default=True)] = TestConfig()
    per_network: PerNetworkConfig | None = None
    generalisation: tuple[GeneralisationConfig, ...] = ()
    settle: AnyRule = SettlingRule()
    required_percent: Annotated[float, Field(gt=0)] = 1.0
    model: LinkModel = LinkModel()

    @field_validator("validation", "test", "per_network")
    @classmethod
    def _whole_blocks(cls, value: WholeBlocks | None, info: ValidationInfo) -> WholeBlocks | None:
        space = info.data.get("networks")
        return value if value is None or space is None else value.rounded(space)

    @field_validator("signal_sets", "utilities", "generalisation")
    @classmethod
    def _distinct(cls, named: tuple[Any, ...]) -> tuple[Any, ...]:
        once(tuple(each.name for each in named))
        return named

    @field_validator("trainers")
    @classmethod
    def _in_order(cls, named: dict[str, TrainerConfig] | None) -> dict[str, TrainerConfig] | None:
        return named and dict(sorted(named.items()))

    @field_validator("baseline", mode="before")
    @classmethod
    def _name_of_file(cls, value: Any) -> Any:
        return signal_set(value).name if isinstance(value, str) and value.endswith(YAML_ENDINGS) else value

    @field_validator("hand_designed")
    @classmethod
    def _runs_there(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for name in names if "networks" in info.data else ():
            check_designed(name, info.data["networks"].simulators[0])
        return once(names)

    @field_validator("training_seeds")
    @classmethod
    def _distinct_seeds(cls, seeds: tuple[int, ...] | SeedsConfig) -> tuple[int, ...] | SeedsConfig:
        return seeds if isinstance(seeds, SeedsConfig) else once(seeds)

    @field_validator("baseline")
    @classmethod
    def _baseline_is_trained(cls, name: str, info: ValidationInfo) -> str:
        known = [each.name for each in info.data.get("signal_sets", ())]
        if known and name not in known:
            listed = ", ".join(known)
            raise ValueError(f"the baseline {name!r} is none of the campaign's signal_sets ({listed}); add it there")
        return name

    @model_validator(mode="after")
    def _one_way_to_learn(self) -> CampaignConfig:
        if (self.trainer is None) == (self.trainers is None):
            raise ValueError("give either trainer or trainers, several by their names; null undoes what a base gives")
        return self

    @model_serializer(mode="wrap")
    def _as_written(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        other = ["trainer" if self.trainers else "trainers", *([] if self.learnt_with else ["learnt_with"])]
        return {key: value for key, value in content(self).items() if key not in other}

    @model_validator(mode="after")
    def _distinct_ids(self) -> CampaignConfig:
        for candidate in self.candidates:
            if candidate.header and candidate.signals.signals == self.base.signals:
                raise ValueError(f"header {candidate.name} carries no signal that {self.baseline} lacks; leave it out")
        once(tuple(f"{c.name}.{u.name}" for c in self.candidates for u in self.utilities))
        return self

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, value: Any) -> Any:
        return filled_in(value) if isinstance(value, dict) else value

    @field_validator("packet_bytes")
    @classmethod
    def _one_packet(cls, value: int, info: ValidationInfo) -> int:
        space: Networks | None = info.data.get("networks")
        return value if space is None else space.packet_of(value)

    @model_validator(mode="after")
    def _fits_its_place(self) -> CampaignConfig:
        try:
            check_place(self)
        except InputError as error:
            key, _, text = str(error).partition(": ")
            raise_problems("campaign", [problem_at(tuple(key.split(".")), text)])
        return self

    @model_validator(mode="after")
    def _can_go_on(self) -> CampaignConfig:
        for where, trainer in self._keys_of_trainers.items():
            if self.start != "scratch" and not trainer.warm_starts:
                raise ValueError(f"start: {where}.kind {trainer.kind} has no warm start; use scratch")
        sets = {each.name: each.signals for each in self.candidates}
        for name, table in self.starts.items():
            with about(f"start.{name}"):
                require(name in sets, f"no signal set or header has this name{did_you_mean(name, sets)}")
                missing = [signal for signal in table.seen if signal not in sets[name].signals]
                require(not missing, f"{', '.join(missing)} missing, which the table looks at")
        if self.rivals != "none" and not any(trainer.rivals for trainer in self.named_trainers.values()):
            kinds = " and ".join(f"{where}.kind {each.kind}" for where, each in self._keys_of_trainers.items())
            raise ValueError(f"rivals: {self.rivals}: {kinds} cannot take them; use none")
        for candidate in self.candidates if self.start == "baseline" else ():
            if missing := [name for name in self.base.signals if name not in candidate.signals.signals]:
                raise ValueError(f"start: {candidate.name} lacks {', '.join(missing)} of {self.baseline}: use scratch")
        return self

    @model_validator(mode="after")
    def _can_be_learnt_with(self) -> CampaignConfig:
        for where, trainer in self._keys_of_trainers.items():
            for candidate in self.candidates:
                with about(f"{where}: {candidate.name}" if self.trainers else candidate.name):
                    if not (trainer.of_hosts and isinstance(self.networks, FabricSpace)):
                        require_no_hosts(candidate.signals.signals)
                    trainer.require(candidate.signals.signals)
                    own = [each.name for each in formulas(candidate.signals.signals)]
                    problem = f"trainer.kind: {trainer.kind} learns no formulas ({', '.join(own)}); use law or rplus"
                    require(trainer.formulas or not own, problem)
            if self.headers and not trainer.headers:
                raise ValueError(f"headers: {where}.kind {trainer.kind} cannot learn with them; use signal_sets")
        return self

    @property
    def named_trainers(self) -> Mapping[str, TrainerConfig]:
        """The trainers by their names; "" is the name of the only one of a campaign with `trainer`."""
        return {"": self.trainer} if self.trainer is not None else self.trainers or {}

    @property
    def _keys_of_trainers(self) -> dict[str, TrainerConfig]:
        """The trainers by the keys at which they are written."""
        return {f"trainers.{name}" if name else "trainer": each for name, each in self.named_trainers.items()}

    @property
    def base(self) -> SignalSet:
        """The baseline's signal set."""
        return next(each for each in self.signal_sets if each.name == self.baseline)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Everything that is trained and compared: the signal sets, then the headers."""
        sets = tuple(Candidate(each, None, self.packet_bytes) for each in self.signal_sets)
        return sets + header_candidates(self.headers, self.base, self.packet_bytes, self.learnt_with)

    @cached_property
    def starts(self) -> dict[str, RuleTable]:
        """The rule tables that trainings begin with, by candidate."""
        tables = {}
        for name, path in self.start.items() if isinstance(self.start, dict) else ():
            with about(f"start.{name}"):
                table = policyfile.load(path).policy
                if not isinstance(table, RuleTable):
                    raise InputError(f"{path}: a training begins with a rule table")
            tables[name] = table
        return tables

    @property
    def network_space(self) -> DrawnNetworks:
        """The space of networks, or several.

        Raises:
            InputError: the campaign is on a fabric.
        """
        if not isinstance(self.networks, DrawnNetworks):
            raise InputError("a campaign on a fabric has no space of networks")
        return self.networks

    @cached_property
    def designed(self) -> dict[str, Policy]:
        """The hand-designed policies, by their names."""
        return {name: resolve(name, cast(Place, self.networks.simulators[0])).policy for name in self.hand_designed}

    @property
    def seed_steps(self) -> list[tuple[int, ...]]:
        """Training seeds in the steps in which they are added: all at once where they are listed."""
        wanted = self.training_seeds
        if not isinstance(wanted, SeedsConfig):
            return [wanted]
        return [tuple(range(1, wanted.first + 1)), *((seed,) for seed in range(wanted.first + 1, wanted.most + 1))]

    @property
    def seeds(self) -> tuple[int, ...]:
        """All training seeds that there may be."""
        return tuple(seed for step in self.seed_steps for seed in step)

    @property
    def rule(self) -> Rule:
        """The settling rule, which looks for the last time when the pairs are used up."""
        return self.settle.ending_at(self.test.pairs // self.networks.block)

    def _named(self) -> dict[str, Any]:
        sets: dict[str, Any] = {"sets": [each.model_dump(mode="json") for each in self.signal_sets]}
        return sets | ({"starts": {name: table.digest for name, table in self.starts.items()}} if self.starts else {})


def read_campaign(path: str | os.PathLike[str], overrides: Iterable[str] = ()) -> CampaignConfig:
    """Read a campaign's YAML file, with `--set` overrides.

    Names of files are relative to the file that says them; in an override, to the working folder.

    Raises:
        ConfigError: listing every problem, by file and line.
    """
    return read_one(path, CampaignConfig, overrides)
