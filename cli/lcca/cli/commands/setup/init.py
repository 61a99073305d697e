"""`lcca init`: write a campaign to start from, with comments."""

from __future__ import annotations

import argparse
from pathlib import Path

from lcca.cli.options.common import print_answer
from lcca.experiments.starters import STARTERS, starter
from lcca.inputs.errors import InputError

EXAMPLES = """\
  lcca init signals
  lcca init headers mine.yaml
  lcca sweep mine.yaml"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asked = "; ".join(f"{name}: {question}" for name, question in STARTERS.items())
    parser.add_argument("what", choices=tuple(STARTERS), help=asked)
    parser.add_argument("file", type=Path, nargs="?", help="where to write it (default: signals.yaml and so on, here)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    path = options.file or Path(f"{options.what}.yaml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starter(options.what))
    except FileExistsError:
        raise InputError(f"{path}: there already; name another file: lcca init {options.what} FILE") from None
    words = f"{path}: a campaign of seconds to minutes; its comments say what a result takes"
    return print_answer(options, {"file": str(path)}, [words, f"next: lcca sweep {path}"])
