"""Fills the page on the command line, as the site is built, with the help of every command.

Help is not written into the page: its form depends on Python's version, and studies add commands.
"""

import argparse
import os
from typing import Any

from lcca.cli.commands import COMMANDS, load
from lcca.cli.main import parser

MARK = "<!-- help of commands -->"
WIDTH = {"COLUMNS": "100", "NO_COLOR": "1"}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the help of all commands where a page has the mark of it (MkDocs, for each page)."""
    return markdown.replace(MARK, commands()) if MARK in markdown else markdown


def commands() -> str:
    """Return the help of every command."""
    return "\n\n".join(map(section, subcommands().values()))


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
