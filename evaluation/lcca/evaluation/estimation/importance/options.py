"""How to estimate a tail quantile with importance sampling."""

from typing import Literal, Self

from pydantic import Field, model_validator

from lcca.evaluation.estimation.importance.tilts import NormalTilt, TailBoost, Tilt
from lcca.inputs.model import Model


class ImportanceOptions(Model):
    """How importance sampling is done, whatever is estimated; see `docs/background/importance.md`.

    The cost of what is simulated is told in plain trials. Tilted ones have more and larger flows: by "work" a trial
    counts as its sizes, or as 1 if that is more; by "trials" every simulation counts as 1.

    Attributes:
        tilt: "tail-boost", or "normal" for CCEval's family.
        tilt_rate: whether to tilt the rate of arrivals too; CCEval does not.
        bounded: whether the search stops where ln E[L²] of a trial reaches 1; CCEval's does not, and is mostly refused.
        switching: whether a trial returns to the true measure once a flow was beyond the quantile, as CCEval's do.
            Such trials are simulated twice.
        epochs: updates of the search; CCEval has 10, the first three do nearly all.
        cycles: trials per epoch (CCEval's m_ce).
        pilot: trials that forecast the tests.
        interval: cluster-Woodruff, or Student's t over batches, which is CCEval's.
        batch: trials of a batch (CCEval's K).
        cost: what a trial counts as.
        size_model: what flow sizes are drawn from: their table, or CCEval's lognormal fitted to it (§5), which is
            refused where it misses the target quantile by more than 1 %.
    """

    tilt: Literal["tail-boost", "normal"] = "tail-boost"
    tilt_rate: bool = True
    bounded: bool = True
    switching: bool = False
    epochs: int = Field(default=3, ge=1)
    cycles: int = Field(default=200, ge=20)
    pilot: int = Field(default=200, ge=20)
    interval: Literal["woodruff", "batch"] = "woodruff"
    batch: int = Field(default=40, ge=2)
    cost: Literal["work", "trials"] = "work"
    size_model: Literal["table", "lognormal"] = "table"

    @property
    def overhead(self) -> int:
        """Trials of search and pilot."""
        return self.epochs * self.cycles + self.pilot

    @property
    def fewest(self) -> int:
        """Weighted trials without which there is no interval."""
        return 2 * self.batch if self.interval == "batch" else 2


class ImportanceConfig(ImportanceOptions):
    """What to estimate with importance sampling, and how.

    Attributes:
        quantile: which quantile, pooled over flows.
        budget: plain trials that may be spent in all, search and pilot included. A refusal after the last stage
            spends up to twice as much.
        confidence: of the interval.
    """

    quantile: float = Field(gt=0, lt=1)
    budget: int = Field(default=10_000, ge=1)
    confidence: float = Field(default=0.95, gt=0, lt=1)

    @model_validator(mode="after")
    def _budget_suffices(self) -> Self:
        if self.budget <= self.overhead:
            raise ValueError(
                f"budget must be more than the {self.overhead} trials of search and pilot, got {self.budget}"
            )
        return self

    def start(self) -> Tilt:
        """Return the tilt that changes nothing."""
        return NormalTilt() if self.tilt == "normal" else TailBoost.of(self.quantile)
