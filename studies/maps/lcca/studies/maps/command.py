"""`lcca map`: where in a space, or on a fabric, a signal set or a header is worth something, over training seeds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.campaign import add_campaign, run_each
from lcca.cli.options.common import print_visible
from lcca.inputs.errors import require

if TYPE_CHECKING:
    from lcca.experiments.runs.grid import Grid
    from lcca.studies.maps.config import MapConfig

EXAMPLES = """\
  lcca map configs/signals.yaml --over senders,rtt
  lcca map configs/signals.yaml --over senders --set 'pairs=[[e2e, flows]]' --set run=results/signals/0123456789ab
  lcca map configs/signals.yaml --over senders,mean_on --set 'metrics=[score_bits, throughput_share, delay_us]'
  lcca map studies/maps/configs/fabric.yaml --set 'within.workload.load={min: 0.5, max: 0.9, step: 0.1}' --plan"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.add_argument(
        "--over",
        default="",
        metavar="NAMES",
        help="parameters of the map, as in senders,rtt: with a campaign's file in place of a map's; all else is a key",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    from lcca.studies.maps.recipe import costs

    return run_each(options, _grid(options), costs, _run)


def _run(options: argparse.Namespace, config: MapConfig, folder: Path) -> dict[str, Any]:
    from lcca.cli.printing.console import print_table, wide_console
    from lcca.experiments.recipes.kept import reported
    from lcca.studies.maps.recipe import map as mapped
    from lcca.studies.maps.report.words import notes, region_table, worth_in_words

    how = {"jobs": options.jobs, "executor": options.executor}
    summary = mapped(config, out=folder, resume=True, quiet=False, **how).content
    if options.json:
        return summary
    report = reported(config, folder)
    for each in summary["maps"]:
        wide_console().print(worth_in_words(each), style="bold", markup=False)
        print_table(region_table(each, summary), *notes(each, summary)[:1])
    for note in notes(summary["maps"][-1], summary)[1:]:
        wide_console().print(note, style="dim", markup=False)
    print_visible(f"\nreport: {report}")
    return summary


def _grid(options: argparse.Namespace) -> Grid[MapConfig]:
    """Return the map's configuration, or several: its own file, or a campaign's with the parameters of `--over`."""
    from lcca.experiments.runs.grid import read_grid, single
    from lcca.experiments.schemas.kinds import KINDS, of_kind
    from lcca.inputs.documents import Document
    from lcca.inputs.validation import read_document, with_overrides
    from lcca.studies.maps.config import MapConfig

    document = read_document(options.config)
    over = [f"over=[{options.over}]"] if options.over else []
    if not KINDS["campaign"].has(document.data):
        return read_grid(options.config, MapConfig, [*over, *options.overrides])
    require(bool(options.over), "--over: name the parameters of the map, as in senders,rtt")
    own = {"name": f"map-{options.config.stem}", "campaign": options.config.name}
    whole = Document(document.path, own, {(): document.place(())})
    return single(of_kind(with_overrides(whole, MapConfig, [*over, *options.overrides]), MapConfig))
