"""`lcca estimate`: one metric of one policy to a set accuracy, or several from the same trials."""

from __future__ import annotations

import argparse
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.common import print_visible
from lcca.cli.options.running import run_each
from lcca.experiments.verbs.options import WrittenAlone
from lcca.inputs.errors import require
from lcca.inputs.options import frozen, option

if TYPE_CHECKING:
    from lcca.experiments.recipes.prepared import Result
    from lcca.studies.cceval.config import EstimationConfig

EXAMPLES = """\
  lcca estimate studies/cceval/configs/websearch-p99.yaml
  lcca estimate studies/cceval/configs/websearch-p99.yaml --set estimate.accuracy_percent=2 --json
  lcca estimate studies/cceval/configs/websearch-p99-model-based.yaml
  lcca estimate studies/cceval/configs/dumbbell.yaml --set 'grid.policy=[dctcp,hpcc]'
  lcca estimate studies/cceval/configs/websearch-p99.yaml --durations 20000,50000,100000,200000"""


@frozen
class EstimateOrDurations(WrittenAlone):
    _: KW_ONLY
    durations: str | None = option(
        "in place of the estimate: the quantile at these durations of a trial (µs), to choose one by",
        metavar="LIST",
    )
    simulated_time: float | None = option("µs in total per duration (default: 50 trials of the longest)", metavar="US")


def run(verb: EstimateOrDurations, options: argparse.Namespace) -> int:
    from lcca.studies.cceval.config import EstimationConfig
    from lcca.studies.cceval.recipe import estimating

    durations = verb.durations is not None
    require(not (options.plan and durations), "--plan: is for the estimate, not for --durations")
    return run_each(verb, options, EstimationConfig, _Durations if durations else estimating, _show)


def _show(config: EstimationConfig, folder: Path, content: dict[str, Any]) -> None:
    from lcca.studies.cceval.printing import print_durations, print_estimate

    print_durations(content) if "shortest_unbiased_us" in content else print_estimate(config, content)
    print_visible(f"everything is in {folder}")


@dataclass(frozen=True)
class _Durations:
    """Trials of several durations, ready to run."""

    verb: EstimateOrDurations

    def run(self, out: Path, *, resume: bool, quiet: bool) -> Result:
        from pandas import DataFrame

        from lcca.experiments.recipes.kept import config_of
        from lcca.experiments.recipes.prepared import Result
        from lcca.studies.cceval.config import EstimationConfig
        from lcca.studies.cceval.durations import parse_durations, try_durations

        verb, durations = self.verb, parse_durations(self.verb.durations or "")
        how: dict[str, Any] = {"jobs": verb.jobs, "executor": verb.executor, "resume": resume}
        return Result(
            try_durations(config_of(verb.config, EstimationConfig), out, durations, verb.simulated_time, **how),
            DataFrame(),
            folder=out,
        )
