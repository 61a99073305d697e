"""Importance sampling for tail quantiles of open-loop trials: tilts, weights, refusals (CCEval §4.3).

`TailSampler` is the door: nothing outside imports from the files of this folder. Start reading at `sampling`, then
`attempt`. Method and measurements: `studies/cceval/importance.md`.
"""

from lcca.studies.cceval.importance.attempt import ImportanceOptions
from lcca.studies.cceval.importance.sampling import IMPORTANCE, FlowMetric, TailSample, TailSampler

__all__ = ["IMPORTANCE", "FlowMetric", "ImportanceOptions", "TailSample", "TailSampler"]
