"""The command line of a verb, made of its fields; and the verb of a command line."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, replace
from functools import wraps
from pathlib import Path
from typing import Any, get_type_hints

from lcca.inputs.errors import InputError
from lcca.inputs.numbers import real
from lcca.inputs.options import Option, options_of, whole


def add_arguments(parser: argparse.ArgumentParser, command: Any) -> None:
    """Add the options of a command, a module as `lcca.cli.commands` says, its examples, and what runs it."""
    cls = get_type_hints(command.run)["verb"]
    more = command.more() if hasattr(command, "more") else {}
    for each in options_of(cls):
        option = replace(more[each.key], key=each.key, default=each.default) if each.key in more else each
        if not option.in_python:
            _add(parser, option)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"examples:\n{command.EXAMPLES}"
    for title, kinds in getattr(cls, "listed", {}).items():
        parser.epilog += _listed(title, kinds)
    if hasattr(cls, "always_kept"):  # a `lcca.experiments.verbs.options.Kept`, which other commands do not import
        words = "say what it costs, from a few trials, and run no more"
        parser.add_argument("--plan", action="store_true", help=words)
        parser.set_defaults(kept=cls.always_kept, quiet=False)
    parser.set_defaults(run=lambda options: command.run(_verb(options, cls), options))


def _verb(options: argparse.Namespace, cls: type) -> Any:
    """Return the verb that a command line asks for."""
    return cls(**{each.key: getattr(options, each.key) for each in options_of(cls) if each.key in options})


def _listed(title: str, kinds: Mapping[str, str]) -> str:
    width = min(shutil.get_terminal_size().columns - 2, 100)
    lines = textwrap.TextWrapper(width, "  ", " " * 4, break_long_words=False, break_on_hyphens=False)
    return "\n".join((f"\n\n{title}:", *(lines.fill(f"{kind}: {those}") for kind, those in kinds.items())))


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    """Add one option: an argument where Python takes it by position, unless a dash begins its name."""
    required = option.default is MISSING and option.usual is None
    own: dict[str, Any] = {"help": option.help.replace("%", "%%")}
    if option.shape is bool:
        own |= {"action": "store_true"}
    else:
        default = option.default if option.usual is None else option.usual
        own |= {"metavar": option.metavar, "type": _reader(option), "default": None if required else default}
        own |= {"choices": option.choices or None}
    if option.several:
        own |= {"action": "append", "default": []} if option.repeated else {"nargs": "+" if required else "*"}
    if option.positional and not option.name.startswith("--"):
        optional = {} if required or option.several else {"nargs": "?"}
        parser.add_argument(option.key, **own | optional | {"metavar": option.metavar or option.name or None})
        return
    if option.name and not option.choices and option.shape is not bool:
        own["metavar"] = option.metavar or option.name.strip("-").upper()
    flag = option.name or f"--{option.key.replace('_', '-')}"
    parser.add_argument(flag, dest=option.key, required=required, **own)


def _reader(option: Option) -> Callable[[str], Any]:
    """Return what makes a value of a text, and says what is wrong with it."""
    usual: dict[Any, Callable[[str], Any]] = {int: lambda text: whole(text, option.limits), float: real, Path: Path}
    read = option.read or usual.get(option.shape, str)
    if read in (str, Path):
        return read

    @wraps(read)
    def said(text: str) -> Any:
        try:
            return read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return said
