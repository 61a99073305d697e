"""`lcca init`: write a campaign to start from, with comments."""

from __future__ import annotations

import argparse
from pathlib import Path

from lcca.cli.options.common import print_answer
from lcca.experiments.starters import STARTERS, starter
from lcca.inputs.errors import InputError
from lcca.inputs.options import argument, option, verb

EXAMPLES = """\
  lcca init signals
  lcca init headers mine.yaml
  lcca sweep mine.yaml"""


@verb
class Init:
    what: str = argument(
        "; ".join(f"{name}: {question}" for name, question in STARTERS.items()), choices=tuple(STARTERS)
    )
    file: Path | None = option("where to write it (default: signals.yaml and so on, here)")


def run(asked: Init, options: argparse.Namespace) -> int:
    path = asked.file or Path(f"{asked.what}.yaml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starter(asked.what))
    except FileExistsError:
        raise InputError(f"{path}: there already; name another file: lcca init {asked.what} FILE") from None
    words = f"{path}: a campaign of seconds to minutes; its comments say what a result takes"
    return print_answer(options, {"file": str(path)}, [words, f"next: lcca sweep {path}"])
