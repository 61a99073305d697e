"""Importance sampling for tail quantiles of open-loop trials: tilts, weights, refusals, and the plain way out.

Start reading at `estimator`. A user has a `Bench` (workload, simulator, metric) and an `ImportanceConfig`, and gets
a `TailEstimate` from `estimate_tail`. Method and measurements: `docs/background/importance.md`.
"""

from lcca.evaluation.estimation.importance.attempt import Attempt, attempt_tail
from lcca.evaluation.estimation.importance.cycles import Bench, Cycles, Measure
from lcca.evaluation.estimation.importance.estimator import TailEstimate, estimate_tail
from lcca.evaluation.estimation.importance.flows import Flows, LognormalSizes, OpenLoop, TableSizes, each_trial
from lcca.evaluation.estimation.importance.options import ImportanceConfig, ImportanceOptions
from lcca.evaluation.estimation.importance.refusals import Check, RefusalTest
from lcca.evaluation.estimation.importance.size_models import SizeFit, fit_sizes
from lcca.evaluation.estimation.importance.tilts import NormalTilt, TailBoost, Tilt

__all__ = [
    "Attempt",
    "Bench",
    "Check",
    "Cycles",
    "Flows",
    "ImportanceConfig",
    "ImportanceOptions",
    "LognormalSizes",
    "Measure",
    "NormalTilt",
    "OpenLoop",
    "RefusalTest",
    "SizeFit",
    "TableSizes",
    "TailBoost",
    "TailEstimate",
    "Tilt",
    "attempt_tail",
    "each_trial",
    "estimate_tail",
    "fit_sizes",
]
