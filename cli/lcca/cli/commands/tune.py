"""`lcca tune`: the best parameters of a congestion control for a network space."""

from __future__ import annotations

import argparse
from dataclasses import KW_ONLY
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.common import print_visible
from lcca.cli.options.running import run_each
from lcca.evaluation.trials.layout import OPTUNA, POLICY
from lcca.experiments.verbs.tuning import Tune
from lcca.inputs.errors import require
from lcca.inputs.options import frozen, option

if TYPE_CHECKING:
    from lcca.experiments.tuning.config import TuningConfig

EXAMPLES = """\
  lcca tune configs/tuning/vegas.yaml
  lcca tune configs/tuning/bbr.yaml --set tuner.trials=40 --jobs 8
  lcca tune configs/tuning/cubic.yaml --set 'tuner.sampler={kind: tpe}' --json
  lcca tune configs/tuning/dcqcn.yaml
  lcca tune configs/tuning/bbr.yaml --join"""


@frozen
class TuneOrJoin(Tune):
    _: KW_ONLY
    join: bool = option("join a run of another process as a worker; results stay the same", False)


def run(verb: TuneOrJoin, options: argparse.Namespace) -> int:
    from lcca.experiments.recipes.tune import tuning
    from lcca.experiments.runs.grid import read_grid
    from lcca.experiments.tuning.config import TuningConfig
    from lcca.experiments.tuning.search import join

    require(options.plan or not (verb.join and options.json), "--json: the process that leads has the result")
    if options.plan or not verb.join:
        return run_each(verb, options, TuningConfig, tuning, partial(_show, verb))
    for config, folder in read_grid(str(verb.config), TuningConfig, verb.overrides).runs(verb.out):
        join(config, folder, jobs=verb.jobs, executor=verb.executor, storage=verb.storage)
    return 0


def _show(verb: Tune, config: TuningConfig, folder: Path, summary: dict[str, Any]) -> None:
    from lcca.cli.printing.campaigns import print_tuning
    from lcca.experiments.recipes.kept import reported

    report = reported(config, folder)
    print_tuning(summary)
    print_visible(f"\npolicy: {folder / POLICY}\nreport: {report}")
    url = verb.storage or f"sqlite:///{folder / OPTUNA}"
    print_visible(f"candidates one by one: optuna-dashboard {url}")
