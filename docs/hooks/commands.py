"""Fills pages, as the site is built, with the help of every command and of the functions of the same names.

It is not written into the pages: its form depends on Python's version, and studies add commands.
"""

import argparse
import inspect
import os
from typing import Any

import lcca.api
from lcca.cli.commands import COMMANDS, load
from lcca.cli.main import parser

WIDTH = {"COLUMNS": "100", "NO_COLOR": "1"}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put help where a page has the mark of it (MkDocs, for each page)."""
    for mark, help in {"<!-- help of commands -->": commands, "<!-- help of functions -->": functions}.items():
        markdown = markdown.replace(mark, help()) if mark in markdown else markdown
    return markdown


def functions() -> str:
    """Return the parameters of every function that is a command too, and what they mean."""
    found = {name: getattr(lcca.api, name) for name in lcca.api.__all__ if name in COMMANDS}
    parts = {f"{name}{inspect.signature(each)}": each.__doc__ for name, each in found.items()}
    return "\n\n".join(
        f"### lcca.{head.partition('(')[0]}\n\n```text\n{head}\n\n{doc}\n```" for head, doc in parts.items()
    )


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
