"""Importance sampling for tail quantiles of open-loop trials: tilts, weights, refusals, and the plain way out.

Start reading at `estimator`. A user has a `Bench` (workload, simulator, metric) and an `ImportanceConfig`, and gets
a `TailEstimate` from `estimate_tail`. Method and measurements: `docs/background/importance.md`.
"""
