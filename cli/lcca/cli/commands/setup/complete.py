"""`lcca complete`: a script with which a shell completes commands, options, choices and files."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from lcca.inputs.extras import require_libraries
from lcca.inputs.options import argument, frozen

SHELLS = ("bash", "zsh", "tcsh")

EXAMPLES = """\
  lcca complete bash > ~/.local/share/bash-completion/completions/lcca
  lcca complete zsh > ~/.zfunc/_lcca      # a folder in fpath"""


@frozen
class Complete:
    shell: str = argument("", choices=SHELLS)


def run(verb: Complete, options: argparse.Namespace) -> int:
    from lcca.cli.commands import COMMANDS, load
    from lcca.cli.main import parser

    require_libraries({"shtab": "shtab"}, "completions", "completion")
    shtab = import_module("shtab")
    whole = parser({name: load(name) for name in COMMANDS})
    _complete_files(whole, shtab.FILE)
    print(shtab.complete(whole, verb.shell))
    return 0


def _complete_files(parser: argparse.ArgumentParser, how: object) -> None:
    """Let files be completed where an option is a path, or an argument may be one."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                _complete_files(each, how)
        elif action.choices is None and (action.type is Path or not action.option_strings):
            action.complete = how  # type: ignore[attr-defined]
