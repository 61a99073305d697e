"""`lcca acc`: learn how switches should mark, and hold that against static marking."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.common import print_visible
from lcca.cli.options.running import run_each
from lcca.evaluation.trials.layout import SUMMARY
from lcca.experiments.verbs.options import WrittenAlone

if TYPE_CHECKING:
    from lcca.studies.acc.config import FabricAcc

EXAMPLES = """\
  lcca acc studies/acc/configs/fabric.yaml
  lcca acc studies/acc/configs/fabric-smoke.yaml --json
  lcca acc studies/acc/configs/fabric.yaml --set trainer.dqn.steps=50000"""


def run(verb: WrittenAlone, options: argparse.Namespace) -> int:
    from lcca.studies.acc.config import FabricAcc
    from lcca.studies.acc.recipe import training

    return run_each(verb, options, FabricAcc, training, _show)


def _show(config: FabricAcc, folder: Path, summary: dict[str, Any]) -> None:
    from lcca.studies.acc.config import MODEL
    from lcca.studies.acc.printing import print_acc

    for name in dict.fromkeys(each["condition"] for each in summary["policies"]):
        print_acc(summary, name)
    model = f"model: {folder / MODEL}\n" if (folder / MODEL).exists() else ""
    print_visible(f"\n{model}summary: {folder / SUMMARY}")
