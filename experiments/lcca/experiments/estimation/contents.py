"""What the result of an estimation holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lcca.evaluation.estimation.accuracy import accuracy_rows, spread
from lcca.evaluation.estimation.estimate import EstimateLook, Estimating
from lcca.experiments.estimation.config import EstimateBlock, EstimationConfig
from lcca.experiments.summaries import head
from lcca.inputs.json_values import finite, finite_values


def heading(config: EstimationConfig) -> dict[str, Any]:
    """Return what says of which estimation a result is."""
    place, named = config.place, {"policy": config.policy, "simulator": config.simulator}
    return head(config) | named | dict(place.named) | {"duration_us": place.duration_us}


def look_content(look: EstimateLook) -> dict[str, Any]:
    """Return one look as JSON values."""
    return {"n": look.n} | {key: finite(getattr(look, key)) for key in ("estimate", "low", "high", "required")}


def several_content(config: EstimationConfig, going: Sequence[Estimating]) -> dict[str, Any]:
    """Return the result for several metrics, as far as they are known."""
    rows = [_metric(asked, each) for asked, each in zip(config.estimate.each, going, strict=True)]
    return heading(config) | {"trials": max(each.trials for each in going), "estimates": rows, "notes": []}


def _metric(asked: EstimateBlock, going: Estimating) -> dict[str, Any]:
    """Return one metric: what was asked, its estimate from all trials, when it was accurate, and its looks."""
    first = going.first_accurate
    row = {
        "metric": asked.metric,
        "quantile": asked.quantile,
        "flows": asked.flows.model_dump() if asked.flows else None,
        "target": asked.target,
        "accuracy_percent": asked.accuracy_percent,
    }
    row |= going.state.to_json() | finite_values(asdict(spread(going)))
    if going.looks:
        row |= {key: getattr(going.looks[0], key) for key in ("forecast_low", "forecast_high")}
    return row | {
        "accurate": going.accurate,
        "accurate_first": look_content(first) if first else None,
        "warning": str(going.warning) if going.warning else "",
        "by_accuracy": [finite_values(asdict(row)) for row in accuracy_rows(going)],
        "looks": [look_content(look) for look in going.looks],
    }
