"""The `estimate:` block of an estimation's configuration: what to estimate, how well and by which method."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from lcca.evaluation.estimation.estimate import EstimateConfig
from lcca.evaluation.estimation.importance import ImportanceConfig, ImportanceOptions

EstimateMethod = Literal["model-free", "model-based"]


class ImportanceBlock(ImportanceOptions):
    """How importance sampling is done; see `docs/background/importance.md`.

    Attributes:
        size_model: what flow sizes are drawn from: their table, or CCEval's lognormal fitted to it (§5), which is
            refused where it misses the target quantile by more than 1 %.
    """

    size_model: Literal["table", "lognormal"] = "table"


class EstimateBlock(EstimateConfig):
    """What to estimate, how well and by which method.

    Attributes:
        method: "model-free" adds plain trials until the accuracy is reached (CCEval §4.2). "model-based" does it with
            importance sampling (§4.3), for a pooled quantile of flows, and falls back to model-free where a test
            refuses; `ceiling` is its budget in plain trials.
        importance: options of the model-based method.
    """

    method: EstimateMethod = "model-free"
    importance: ImportanceBlock | None = Field(default=None, validate_default=True)

    @field_validator("method")
    @classmethod
    def _can_be_sampled(cls, method: EstimateMethod, info: ValidationInfo) -> EstimateMethod:
        if method == "model-free":
            return method
        wrong = []
        if "quantile" in info.data and info.data["quantile"] is None:
            wrong.append("a quantile")
        if info.data.get("target", "pooled") != "pooled":
            wrong.append("target: pooled")
        if "ceiling" in info.data and info.data["ceiling"] is None:
            wrong.append("a ceiling, which is its budget in plain trials")
        if wrong:
            raise ValueError(f"model-based needs {' and '.join(wrong)}")
        return method

    @field_validator("importance")
    @classmethod
    def _fits_the_method(cls, found: ImportanceBlock | None, info: ValidationInfo) -> ImportanceBlock | None:
        method, ceiling = info.data.get("method"), info.data.get("ceiling")
        if method == "model-free" and found is not None:
            raise ValueError("is for method: model-based")
        if method != "model-based":
            return found
        found = found or ImportanceBlock()
        if ceiling is not None and ceiling <= found.overhead:
            raise ValueError(
                f"search and pilot take {found.overhead} trials (epochs × cycles + pilot), and ceiling is {ceiling}: "
                "raise it, or lower these"
            )
        return found

    def sampling(self) -> ImportanceConfig:
        """Return the options of importance sampling; of the model-based method only."""
        options = (self.importance or ImportanceBlock()).model_dump(exclude={"size_model"})
        asked = {"quantile": self.quantile, "budget": self.ceiling, "confidence": self.confidence}
        return ImportanceConfig.model_validate(options | asked)
