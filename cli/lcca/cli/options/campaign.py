"""Options of the commands that work on a campaign."""

from __future__ import annotations

import argparse
from pathlib import Path

from lcca.cli.options.common import add_jobs, add_json, natural
from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.runs.folder import default_folder


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """Add what all commands on a campaign take."""
    parser.add_argument("config", type=Path, help="the campaign's YAML file")
    parser.add_argument("--out", type=Path, help="the run's folder (default: results/<name>/<config hash>)")
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key of the configuration, as in trainer.rounds=2; may be repeated",
    )
    parser.add_argument("--seed", type=natural, help="override the campaign's seed")
    parser.add_argument("--resume", action="store_true", help="go on with the run that is there, if there is one")
    add_jobs(parser)
    add_json(parser)


def campaign_of(options: argparse.Namespace) -> tuple[CampaignConfig, Path]:
    """Return the campaign's configuration and its run's folder."""
    config = read_campaign(options.config, options.overrides, options.seed)
    return config, options.out or default_folder(config)
