"""Options of the commands that work on a campaign."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lcca.cli.options.trials import add_execution, add_overrides, add_plan

if TYPE_CHECKING:
    from lcca.experiments.runs.config import RunConfig

C = TypeVar("C", bound="RunConfig")


def add_campaign(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add what all commands on a campaign take; on several, one after another, `config` is a list."""
    if several:
        parser.add_argument("config", type=Path, nargs="+", help="YAML files; each has a run of its own")
    else:
        parser.add_argument("config", type=Path, help="the campaign's YAML file")
    parser.add_argument(
        "--out",
        type=Path,
        help="the run's folder (default: results/<name>/<config hash>); the same command goes on with what is there",
    )
    add_overrides(parser, "of the configuration, as in seed=2 or trainer.rounds=2")
    add_execution(parser)
    add_plan(parser)
    parser.set_defaults(kept=True)


def config_and_folder(options: argparse.Namespace, kind: type[C], path: Path | None = None) -> tuple[C, Path]:
    """Return the configuration of a run of this kind, and the run's folder.

    Args:
        options: of the command.
        kind: of configuration.
        path: of its file, where the command takes several.
    """
    from lcca.experiments.runs.folder import default_folder
    from lcca.experiments.schemas.kinds import of_kind
    from lcca.inputs.validation import read_with_files

    config = of_kind(read_with_files(path or options.config, kind, options.overrides), kind)
    return config, options.out or default_folder(config)
