"""Configuration of the R+ search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, field_validator
from pydantic import Field as Key

from lcca.inputs.errors import InputError
from lcca.inputs.model import Model
from lcca.remy_plus.policies.pacing import Pacing, offered_pacing, pacing_signals, pacing_unit
from lcca.trainers.base import Budget, TrainerConfig
from lcca.trainers.rplus.actions import FIELDS, Field

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

    Every candidate meets the first `first_block` networks. Then, each time the number of networks has grown by
    `growth`, a candidate is dropped when a one-sided paired t-test against the leader rejects it at level `alpha`, and
    only the best `block_trials` / (networks so far) go on. The winner must beat the current action on all networks.
    """

    first_block: Annotated[int, Key(ge=2)] = 4
    growth: Annotated[float, Key(gt=1)] = 2.0
    alpha: Annotated[float, Key(gt=0, lt=0.5)] = 0.01
    block_trials: Annotated[int, Key(ge=4, le=1_000_000)] = 160
    fewest: Annotated[int, Key(ge=1)] = 2


class RplusConfig(TrainerConfig):
    """The R+ search (`kind: rplus`).

    Attributes:
        mode: `racing` drops candidates early on common networks; `exact` does what R+ does.
        rounds: rounds ("generations" in the paper); each ends with a split of the most-used rule.
        passes: how often each used rule is improved in a round.
        networks: networks drawn for each improvement.
        prune: exact mode only: R+'s pruning at 30 % of the duration; false tries every candidate in full.
        optimise: fields of the action that are searched.
        pacing: what a rule's pacing is a multiple of: `relative` is the receive EWMA (R+), `absolute` a µs (Remy);
            other kinds are signals (`lcca.remy_plus.policies.pacing`); `auto` takes what a task's signals offer.
        check_networks: fresh networks of the regression check at the end of a round; 0 leaves it out.
        budget_trials: ends the search after so many trials (at the end of a step); none by default.
    """

    trainer: ClassVar[str] = "lcca.trainers.rplus.trainer:RplusTrainer"
    warm_starts: ClassVar[bool] = True
    headers: ClassVar[bool] = True

    kind: Literal["rplus"] = "rplus"
    mode: Literal["racing", "exact"] = "racing"
    rounds: Annotated[int, Key(ge=1)] = 5
    passes: Annotated[int, Key(ge=1)] = 5
    networks: Annotated[int, Key(ge=4, le=1_000_000)] = 200
    prune: bool = True
    racing: RacingConfig = RacingConfig()
    optimise: tuple[Field, ...] = FIELDS
    pacing: Annotated[Pacing, AfterValidator(_known_pacing)] = "relative"
    check_networks: Annotated[int, Key(ge=0, le=1_000_000)] = 400
    budget_trials: Annotated[int, Key(ge=1)] | None = None

    def pacing_of(self, signals: Sequence[str]) -> Pacing:
        """Return the pacing of tables over these signals.

        Raises:
            InputError: its signals are not among them.
        """
        found = offered_pacing(signals) if self.pacing == AUTO else self.pacing
        missing = [name for name in pacing_signals(found) if name not in signals]
        if missing:
            raise InputError(f"trainer.pacing: {found} needs {', '.join(missing)} among the signals; or auto")
        return found

    def require(self, signals: Sequence[str]) -> None:
        """See `TrainerConfig`."""
        self.pacing_of(signals)

    @field_validator("optimise")
    @classmethod
    def _some_field(cls, value: tuple[Field, ...]) -> tuple[Field, ...]:
        if not value or len(set(value)) != len(value):
            raise ValueError(f"name at least one of {', '.join(FIELDS)}, each once")
        return value

    @property
    def budget(self) -> Budget:
        """Trials, or rounds where trials are not limited."""
        return super().budget if self.budget_trials is None else Budget(self.budget_trials, "trials")

    @property
    def provenance(self) -> dict[str, str]:
        """Kind and mode."""
        return super().provenance | {"mode": self.mode}
