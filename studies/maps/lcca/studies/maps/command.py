"""`lcca map`: where in a space, or on a fabric, a signal set or a header is worth something, over training seeds."""

from __future__ import annotations

import argparse
from dataclasses import KW_ONLY
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.common import print_visible
from lcca.cli.options.running import run_each
from lcca.experiments.verbs.options import WrittenAlone
from lcca.inputs.errors import require
from lcca.inputs.options import frozen, option

if TYPE_CHECKING:
    from lcca.experiments.runs.grid import Grid
    from lcca.studies.maps.config import MapConfig

EXAMPLES = """\
  lcca map configs/signals.yaml --over senders,rtt
  lcca map configs/signals.yaml --over senders --set 'pairs=[[e2e, flows]]' --set run=results/signals/0123456789ab
  lcca map configs/signals.yaml --over senders,mean_on --set 'metrics=[score_bits, throughput_share, delay_us]'
  lcca map studies/maps/configs/fabric.yaml --set 'within.workload.load={min: 0.5, max: 0.9, step: 0.1}' --plan"""


@frozen
class MapOver(WrittenAlone):
    _: KW_ONLY
    over: str = option(
        "parameters of the map, as in senders,rtt: with a campaign's file in place of a map's; all else is a key",
        "",
        metavar="NAMES",
    )


def run(verb: MapOver, options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    from lcca.studies.maps.recipe import mapping

    return run_each(verb, options, _grid(verb), mapping, _show)


def _show(config: MapConfig, folder: Path, summary: dict[str, Any]) -> None:
    from lcca.cli.printing.console import print_table, wide_console
    from lcca.experiments.recipes.kept import reported
    from lcca.studies.maps.report.words import notes, region_table, worth_in_words

    report = reported(config, folder)
    for each in summary["maps"]:
        wide_console().print(worth_in_words(each), style="bold", markup=False)
        print_table(region_table(each, summary), *notes(each, summary)[:1])
    for note in notes(summary["maps"][-1], summary)[1:]:
        wide_console().print(note, style="dim", markup=False)
    print_visible(f"\nreport: {report}")


def _grid(verb: MapOver) -> Grid[MapConfig]:
    """Return the map's configuration, or several: its own file, or a campaign's with the parameters of `--over`."""
    from lcca.experiments.runs.grid import read_grid, single
    from lcca.experiments.schemas.kinds import KINDS, of_kind
    from lcca.inputs.documents import Document
    from lcca.inputs.validation import read_document, with_overrides
    from lcca.studies.maps.config import MapConfig

    document = read_document(str(verb.config))
    keys = [*([f"over=[{verb.over}]"] if verb.over else []), *verb.overrides]
    if not KINDS["campaign"].has(document.data):
        return read_grid(document.path, MapConfig, keys)
    require(bool(verb.over), "--over: name the parameters of the map, as in senders,rtt")
    own = {"name": f"map-{document.path.stem}", "campaign": document.path.name}
    whole = Document(document.path, own, {(): document.place(())})
    return single(of_kind(with_overrides(whole, MapConfig, keys), MapConfig))
