"""`lcca watch`: what a run is doing, in another terminal or on another machine that sees its folder."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY
from pathlib import Path
from typing import TYPE_CHECKING

from lcca.cli.options.common import OfRun, print_answer, print_visible
from lcca.inputs.options import Count, frozen, option

if TYPE_CHECKING:
    from lcca.experiments.reading.watching import Glance

EXAMPLES = """\
  lcca watch results/quickstart/*/
  lcca watch my-comparison --once"""

EVERY_S = 2


@frozen
class Watch(OfRun):
    _: KW_ONLY
    once: bool = option("look once and end", False)
    every: Count = option(f"seconds between looks (default: {EVERY_S})", EVERY_S)


def run(verb: Watch, options: argparse.Namespace) -> int:
    """Run the command: it ends when the run does."""
    from lcca.experiments.reading.watching import glance

    if verb.once or options.json:
        found = glance(verb.run_folder)
        return print_answer(options, found.to_json(), found.words())
    looks = _looks(verb.run_folder, lambda: time.sleep(verb.every))
    (_show if sys.stdout.isatty() else _print_new)(looks)
    return 0


def _looks(folder: Path, wait: Callable[[], None]) -> Iterator[Glance]:
    """Yield what is seen of a run, until it ends or the process that was seen is gone."""
    from lcca.experiments.reading.watching import glance

    seen = False
    while True:
        found = glance(folder)
        yield found
        if found.ended or (seen and not found.running):
            return
        seen = found.running
        wait()


def _show(looks: Iterator[Glance]) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(), auto_refresh=False) as live:
        for each in looks:
            live.update(Text(each.words(), overflow="ellipsis", no_wrap=True), refresh=True)


def _print_new(looks: Iterator[Glance]) -> None:
    """Print lines of the log that were not there before, and the state at the end."""
    known: list[str] = []
    for each in looks:
        for line in each.log[_overlap(known, each.log) :]:
            print_visible(line, flush=True)
        known, last = each.log, each
    print_visible(last.words().splitlines()[0])


def _overlap(known: list[str], log: list[str]) -> int:
    """Return how many of the log's first lines end what is known."""
    return next(n for n in range(len(log), -1, -1) if log[:n] == known[len(known) - n :] and n <= len(known))
