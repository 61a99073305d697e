"""Fills the page on the command line with the commands' own help, so that it is never out of date."""

import argparse
import os
from typing import Any

from lcca.cli.commands import COMMANDS, load
from lcca.cli.main import parser

MARK = "<!-- commands -->"
WIDTH = {"COLUMNS": "100", "NO_COLOR": "1"}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the help of every command where a page has the mark (called by MkDocs for each page)."""
    return markdown.replace(MARK, "\n\n".join(map(section, subcommands().values()))) if MARK in markdown else markdown


def subcommands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command by its name."""
    actions = parser({name: load(name) for name in COMMANDS})._actions
    listed: dict[str, argparse.ArgumentParser] = next(a.choices for a in actions if a.dest == "command")  # type: ignore[assignment]
    return listed


def section(command: argparse.ArgumentParser) -> str:
    """Return a command's help as a section of the page."""
    before = {name: os.environ.get(name) for name in WIDTH}
    os.environ.update(WIDTH)
    try:
        return f"## {command.prog}\n\n```text\n{command.format_help().strip()}\n```"
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
