"""`lcca init`: write a file to start from, with comments."""

from __future__ import annotations

import argparse
from pathlib import Path

from lcca.cli.options.common import print_answer
from lcca.experiments.starters import STARTERS, command_of, starter
from lcca.inputs.errors import InputError
from lcca.inputs.options import argument, frozen, option

EXAMPLES = """\
  lcca init signals
  lcca init headers mine.yaml
  lcca init design
  lcca sweep mine.yaml"""


@frozen
class Init:
    what: str = argument(
        "; ".join(f"{name}: {question}" for name, question in STARTERS.items()), choices=tuple(STARTERS)
    )
    file: Path | None = option("where to write it (default: signals.yaml and so on, here)")


def run(verb: Init, options: argparse.Namespace) -> int:
    path = verb.file or Path(f"{verb.what}.yaml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starter(verb.what))
    except FileExistsError:
        raise InputError(f"{path}: there already; name another file: lcca init {verb.what} FILE") from None
    words = f"{path}: it takes seconds to minutes; its comments say what a result takes"
    return print_answer(options, {"file": str(path)}, [words, f"next: lcca {command_of(verb.what)} {path}"])
