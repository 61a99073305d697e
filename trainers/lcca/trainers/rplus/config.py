"""Configuration of the R+ search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, field_validator, model_validator
from pydantic import Field as Key

from lcca.inputs.errors import InputError
from lcca.inputs.model import Model
from lcca.remy_plus.policies.rules import MOST_RULES, Pacing, Windows, offered_pacing, pacing_signals, pacing_unit
from lcca.trainers.base import Budget, TrainerConfig
from lcca.trainers.rplus.actions import FIELDS, Field, first_table

AUTO = "auto"


def _known_pacing(kind: str) -> str:
    if kind != AUTO:
        try:
            pacing_unit(kind)
        except InputError as error:
            raise ValueError(f"{str(error).removeprefix('pacing: ')}, or 'auto'") from None
    return kind


class RacingConfig(Model):
    """How candidates are raced on common networks.

    The winner must beat the current action on all networks.

    Attributes:
        first_block: networks that every candidate meets.
        growth: candidates are dropped each time the number of networks has grown by this factor.
        alpha: level of the one-sided paired t-test against the leader by which one is dropped.
        block_trials: only the best, this over the networks so far, go on.
        fewest: candidates that go on all the same.
    """

    first_block: Annotated[int, Key(ge=2)] = 4
    growth: Annotated[float, Key(gt=1)] = 2.0
    alpha: Annotated[float, Key(gt=0, lt=0.5)] = 0.01
    block_trials: Annotated[int, Key(ge=4, le=1_000_000)] = 160
    fewest: Annotated[int, Key(ge=1)] = 2


class PolishConfig(Model):
    """How all actions of a table are moved at once, by a natural evolution strategy.

    Attributes:
        population: candidates of a generation, mirrored; by default as many as is usual for the number of actions.
        networks: fresh networks of a generation, which all its candidates meet.
        sigma: standard deviations at the beginning, in units of the fields' scales (`actions.Limits`).
        trials_per_rule: of a polish, where no budget says how many.
        check_networks: fresh networks on which the last point, the mean of the last half and rivals are compared.
        seed: of the perturbations, which can so be varied apart from the networks.
    """

    population: Annotated[int, Key(ge=4, le=10_000, multiple_of=2)] | None = None
    networks: Annotated[int, Key(ge=1, le=100_000)] = 16
    sigma: Annotated[float, Key(gt=0)] = 0.6
    trials_per_rule: Annotated[int, Key(ge=1)] = 2500
    check_networks: Annotated[int, Key(ge=2, le=1_000_000)] = 320
    seed: Annotated[int, Key(ge=0)] = 0


class StartsConfig(Model):
    """Growths that begin anew from one rule, of which the best goes on.

    Attributes:
        number: of growths.
        rules: with so many rules each ends, and the best goes on; one of the numbers at which a growth polishes.
        trials: of each.
    """

    number: Annotated[int, Key(ge=2, le=1000)] = 4
    rules: Annotated[int, Key(ge=1, le=MOST_RULES)] = 8
    trials: Annotated[int, Key(ge=1)] = 10_000


class GrowConfig(Model):
    """How a table grows: rules are split along the signals that gain most, then all are polished; and so on.

    Attributes:
        rules: at which numbers of rules to polish, rising. Each leaves policies for validation to pick from.
        pairs: mirrored perturbations that estimate the gains of splits, per signal.
        look_ups: networks whose look-ups say where boxes are cut.
        least_use: share of the look-ups below which a rule is not split.
        starts: growths that begin anew, of which the best goes on; just one by default. A table that is given to go on
            from is the only start.
    """

    rules: Annotated[tuple[Annotated[int, Key(ge=1, le=MOST_RULES)], ...], Key(min_length=1)] = (1, 2, 4, 8, 16, 32)
    pairs: Annotated[int, Key(ge=2, le=100_000)] = 96
    look_ups: Annotated[int, Key(ge=1, le=100_000)] = 32
    least_use: Annotated[float, Key(ge=0, lt=1)] = 0.003
    starts: StartsConfig | None = None

    @field_validator("rules")
    @classmethod
    def _rising(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(after <= before for before, after in pairwise(value)):
            raise ValueError("numbers of rules must rise")
        return value

    @model_validator(mode="after")
    def _starts_end_on_the_way(self) -> GrowConfig:
        if self.starts and self.starts.rules not in self.rules:
            raise ValueError(f"starts.rules: must be one of rules, {', '.join(map(str, self.rules))}")
        return self


class RplusConfig(TrainerConfig):
    """The R+ search, and polishing and growth of its table (`kind: rplus`).

    Attributes:
        mode: `racing` drops candidates early on common networks; `exact` does what R+ does.
        rounds: rounds ("generations" in the paper); each ends with a split of the most-used rule. 0 leaves the search
            out: then a table of one rule is polished and grown.
        passes: how often each used rule is improved in a round.
        networks: networks drawn for each improvement.
        prune: exact mode only: R+'s pruning at 30 % of the duration; false tries every candidate in full.
        racing: how, in racing mode.
        optimise: fields of the action that are searched.
        pacing: what a rule's pacing is a multiple of: `relative` is the receive EWMA (R+), `absolute` a µs (Remy);
            other kinds are signals (`lcca.remy_plus.policies.rules`); `auto` takes what a task's signals offer.
        windows: `whole` ones are rounded down at every ACK (R+); `real` ones move by fractions of a packet. They
            are grown and polished only, and begin with eight rules along the RTT ratio where signals have it
            (`actions.STAIRS`); smaller numbers of `grow.rules` are then passed over.
        check_networks: fresh networks of the regression check at the end of a round; 0 leaves it out, and fewer than
            six blocks (96 networks) find nothing worse.
        search_trials: ends the search after so many trials; none by default.
        polish: moves all actions at once after the search; none by default, or the usual way where a table grows.
        grow: splits and polishes in turn; none by default.
        budget_trials: ends the training before it takes more trials than that; none by default. What the search leaves
            is shared among polishes in proportion to their rules and three more.
    """

    trainer: ClassVar[str] = "lcca.trainers.rplus.trainer:RplusTrainer"
    warm_starts: ClassVar[bool] = True
    headers: ClassVar[bool] = True
    formulas: ClassVar[bool] = True
    rivals: ClassVar[bool] = True
    unsaid: ClassVar[Mapping[str, Any]] = {**TrainerConfig.unsaid, "windows": "whole"}

    kind: Literal["rplus"] = "rplus"
    mode: Literal["racing", "exact"] = "racing"
    rounds: Annotated[int, Key(ge=0)] = 5
    passes: Annotated[int, Key(ge=1)] = 5
    networks: Annotated[int, Key(ge=4, le=1_000_000)] = 200
    prune: bool = True
    racing: RacingConfig = RacingConfig()
    optimise: tuple[Field, ...] = FIELDS
    pacing: Annotated[Pacing, AfterValidator(_known_pacing)] = "relative"
    windows: Windows = "whole"
    check_networks: Annotated[int, Key(ge=0, le=1_000_000)] = 400
    search_trials: Annotated[int, Key(ge=1)] | None = None
    polish: PolishConfig | None = None
    grow: GrowConfig | None = None
    budget_trials: Annotated[int, Key(ge=1)] | None = None

    def pacing_of(self, signals: Sequence[str]) -> Pacing:
        """Return the pacing of tables over these signals.

        Raises:
            InputError: its signals are not among them.
        """
        pacing = offered_pacing(signals) if self.pacing == AUTO else self.pacing
        missing = [name for name in pacing_signals(pacing) if name not in signals]
        if missing:
            raise InputError(f"trainer.pacing: {pacing} needs {', '.join(missing)} among the signals; or auto")
        return pacing

    def require(self, signals: Sequence[str]) -> None:
        """See `TrainerConfig`."""
        fewest = len(first_table(signals, self.pacing_of(signals), self.windows))
        if self.grow and (starts := self.grow.starts):
            if starts.rules < fewest:
                raise InputError(f"trainer.grow.starts.rules: real windows begin with {fewest} rules; give no fewer")
            spent = self._spent_on_a_start(self.grow, starts, len(signals))
            if starts.trials <= spent:
                raise InputError(
                    f"trainer.grow.starts.trials: splits and comparisons of one start take up to {spent:,} trials with "
                    f"{len(signals)} signals, which leaves none to polish with; give more than that"
                )

    def require_fabric(self, signals: Sequence[str]) -> None:
        """See `TrainerConfig`: all but R+'s pruning, which needs shorter trials."""
        if self.rounds and self.mode == "exact" and self.prune:
            raise InputError("trainer.prune: trials on a fabric have no shorter form; set it to false")

    def _spent_on_a_start(self, grow: GrowConfig, starts: StartsConfig, signals: int) -> int:
        """Return how many trials a start takes for splits and comparisons, if each number of rules needs one split."""
        sizes = [rules for rules in grow.rules if rules <= starts.rules]
        splits = sum(rules > 1 for rules in sizes)
        compared = 2 * self.polishing.check_networks * len(sizes)
        return compared + splits * (grow.look_ups + 2 * grow.pairs * signals)

    @field_validator("optimise")
    @classmethod
    def _some_field(cls, value: tuple[Field, ...]) -> tuple[Field, ...]:
        if not value or len(set(value)) != len(value):
            raise ValueError(f"name at least one of {', '.join(FIELDS)}, each once")
        return value

    @model_validator(mode="after")
    def _something_to_do(self) -> RplusConfig:
        if not self.rounds and not self.polishes:
            raise ValueError("rounds: 0 leaves nothing to do without polish or grow")
        return self

    @model_validator(mode="after")
    def _searched_windows_are_whole(self) -> RplusConfig:
        if self.rounds and self.windows != "whole":
            raise ValueError(
                "windows: the R+ search moves whole ones; real ones are grown and polished: set rounds to 0"
            )
        return self

    @model_validator(mode="after")
    def _room_for_starts(self) -> RplusConfig:
        starts = self.grow.starts if self.grow else None
        if starts and self.rounds:
            raise ValueError("grow.starts begin from one rule: set rounds to 0")
        if starts and self.budget_trials is not None and self.budget_trials < starts.number * starts.trials:
            raise ValueError(f"budget_trials: {starts.number} starts of {starts.trials} trials need more")
        return self

    @property
    def polishes(self) -> bool:
        """Whether a table is polished after the search."""
        return self.polish is not None or self.grow is not None

    @property
    def polishing(self) -> PolishConfig:
        """How tables are polished."""
        return self.polish or PolishConfig()

    @property
    def policies(self) -> int:
        """One for each round of the search, and two for each polish."""
        return self.rounds + 2 * (self.sizes or int(self.polishes))

    @property
    def sizes(self) -> int:
        """Those at which a growing table is polished."""
        return len(self.grow.rules) if self.grow else 0

    @property
    def rules(self) -> int:
        """Those that a table grows to, or one split into many at the end of each round of the search."""
        return self.grow.rules[-1] if self.grow else min(8 * self.rounds, MOST_RULES) or 1

    @property
    def budget(self) -> Budget:
        """Trials, or rounds where trials are not limited."""
        return super().budget if self.budget_trials is None else Budget(self.budget_trials, "trials")

    @property
    def provenance(self) -> dict[str, str]:
        """Kind and mode."""
        return super().provenance | {"mode": self.mode}
