"""`lcca design`: which header pays most within bytes on the wire and state of a port."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.common import print_visible
from lcca.cli.options.running import run_each
from lcca.experiments.verbs.options import WrittenAlone

if TYPE_CHECKING:
    from lcca.studies.design.config import DesignConfig

EXAMPLES = """\
  lcca design design.yaml
  lcca design studies/design/configs/default.yaml --set 'search.most={bytes: 2, state_bits: 1024}'
  lcca design studies/design/configs/default.yaml --set search.oracles=true
  lcca design studies/design/configs/websearch.yaml --plan"""


def run(verb: WrittenAlone, options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever pays."""
    from lcca.studies.design.config import DesignConfig
    from lcca.studies.design.recipe import designing

    return run_each(verb, options, DesignConfig, designing, _show)


def _show(config: DesignConfig, folder: Path, summary: dict[str, Any]) -> None:
    from lcca.cli.printing.console import print_table, wide_console
    from lcca.experiments.recipes.kept import reported
    from lcca.studies.design.recipe import WINNER
    from lcca.studies.design.report.words import answer_table, confirmed_table, headline, notes

    report = reported(config, folder)
    wide_console().print(headline(summary), style="bold", markup=False)
    print_table(answer_table(summary))
    print_table(confirmed_table(summary), *notes(summary))
    winner = f"winner: {folder / WINNER}\n" if (folder / WINNER).exists() else ""
    print_visible(f"\n{winner}report: {report}")
