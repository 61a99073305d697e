"""The `lcca` command: one file per sub-command in `lcca.cli.commands`.

Exit status: 0 done, 1 failed, 2 bad input, 130 stopped by Ctrl-C. With --json, standard output holds the result and
nothing else.
"""

from __future__ import annotations

import argparse
import io
import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import NoReturn

from lcca.cli.commands import COMMANDS, GROUPS, WITH_TABLES, WITHOUT_JSON, load
from lcca.cli.options.arguments import add_arguments
from lcca.cli.streams import results_alone, said_at_once
from lcca.inputs.began import BEGAN
from lcca.inputs.errors import InputError, did_you_mean, nearest, printable, shown
from lcca.inputs.extras import absent
from lcca.inputs.studies import moved

_COMMANDS_BEFORE = {"bound": ("evaluate", "--bound"), "agree": ("evaluate", "--simulator", "both")}
_OPTIONS_BEFORE = {"--space": "--on", "--fabric": "--on", "--bench": "--on", "--pairs": "--trials"}
_BROKEN = "the installation is broken: {}; see `lcca check`"


class _Version(argparse.Action):
    """Prints the version, which no other command waits for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from lcca.experiments.runs.version import version

        print(f"lcca {version()}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong, as all other errors are said."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


class _Grouped(argparse.HelpFormatter):
    """Lists commands under the names of their groups."""

    def _format_action(self, action: argparse.Action) -> str:
        group = next((name for name, commands in GROUPS.items() if next(iter(commands)) == action.dest), "")
        return (f"\n  {group}:\n" if group else "") + super()._format_action(action)


def parser(modules: Mapping[str, ModuleType]) -> argparse.ArgumentParser:
    """Return the command line: all commands by name, and the options of those whose modules are given."""
    everywhere = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    everywhere.add_argument("--json", action="store_true", help="print the result alone, as JSON on standard output")
    tables = _Parser(add_help=False)
    tables.add_argument("--tables", action="store_true", help="every table, not only those that the answer rests on")
    top = _Parser(
        prog="lcca",
        description="Learn a congestion control per signal set, compare them on fresh networks, say what is settled.",
        epilog="Start with:  lcca sweep configs/quickstart.yaml",
        formatter_class=_Grouped,
        parents=[everywhere],
    )
    top.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    listed = top.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for each, summary in COMMANDS.items():
        common = [everywhere] * (each not in WITHOUT_JSON) + [tables] * (each in WITH_TABLES)
        found = listed.add_parser(each, help=summary, description=summary, parents=common)
        if each in modules:
            add_arguments(found, modules[each])
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    BEGAN.set(0.0 if arguments is None else time.process_time())
    try:
        _write_any_text()
        words = sys.argv[1:] if arguments is None else arguments
        if problem := _problem_of_names(words):
            return _fail(problem, 2)
        with said_at_once(), results_alone():
            return _main(_as_now(words))
    except KeyboardInterrupt:  # before the command began
        return _fail("stopped", 130)


def _problem_of_names(words: Sequence[str]) -> str:
    """Return why names cannot be kept in the files of a run, as text that other locales read too; empty if they can."""
    if sys.getfilesystemencoding() != "utf-8" and not "".join([*words, os.environ.get("PWD", "")]).isascii():
        return "names with letters beyond ASCII need UTF-8, which this locale has not; set PYTHONUTF8=1"
    foreign = [word for word in words if any("\ud800" <= letter <= "\udfff" for letter in word)]
    return f"{foreign[0]}: no UTF-8; rename it" if foreign else ""


def _as_now(before: Sequence[str]) -> list[str]:
    """Return words as commands and options are spelt now, and say so of those that were spelt otherwise."""
    words = [*_COMMANDS_BEFORE.get(before[0], before[:1]), *before[1:]] if before else []
    if words[:1] and words[0] in ("evaluate", "compare", "rank"):
        of_fabric = words[0] == "compare" or any(word.partition("=")[0] == "--fabric" for word in words)
        for i, word in enumerate(words):
            option, equals, value = word.partition("=")
            number = (value if equals else "".join(words[i + 1 : i + 2])).isdigit()
            now = {"--networks": "--trials" if number else "--on"} | ({"--seeds": "--trials"} if of_fabric else {})
            words[i] = (_OPTIONS_BEFORE | now).get(option, option) + equals + value
    words = [_where_it_is(word) for word in words]
    if words != [*before]:
        print(printable(f"lcca: this is now spelt lcca {shlex.join(words)}"), file=sys.stderr)
    return words


def _where_it_is(word: str) -> str:
    """Return a word with the path that a file of a study has now."""
    if "configs/" not in word:
        return word
    before = word.rpartition("=")[2]
    return word.removesuffix(before) + (moved(before) or before)


def _main(given: Sequence[str]) -> int:
    name = next((word for word in given if not word.startswith("-")), None)
    if name is not None and name not in COMMANDS:
        return _fail(f"unknown command {shown(name)}{did_you_mean(name, COMMANDS)}; see lcca --help", 2)
    try:
        top = parser({name: load(name)} if name else {})
        options, unknown = top.parse_known_args(given, argparse.Namespace(json=False))
    except ImportError as error:
        return _not_imported(error)
    except Exception as error:  # a broken installation may fail in any way
        return _fail(_BROKEN.format(error), 1)
    if options.command in WITHOUT_JSON and (options.json or "--json" in unknown):  # before the command, or behind it
        return _fail(f"--json: lcca {options.command} has no result to print as JSON; leave it out", 2)
    return _fail(_unknown(unknown[0], top), 2) if unknown else _run(options)


def _unknown(word: str, top: argparse.ArgumentParser) -> str:
    """Return what is wrong with a word that no option takes."""
    option = word.partition("=")[0]
    if not option.startswith("-"):
        return f"{shown(word)}: one argument too many; see --help of the command"
    for action in _actions(top):
        name = str(action.metavar or action.dest)
        if not action.option_strings and option[2:].upper() in name.upper().split(":"):
            words = (action.help or "") % (vars(action) | {"prog": top.prog})
            return f"unknown option {shown(option)}: {name} is an argument without a dash: {words}"
    like = nearest(option, [each for action in _actions(top) for each in action.option_strings if each != option])
    return f"unknown option {shown(option)}{like}; see --help of the command"


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments and options of a parser and of those below it."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return parser._actions + [found for each in below for one in each.choices.values() for found in _actions(one)]


def _run(options: argparse.Namespace) -> int:
    try:
        status = int(options.run(options))
        sys.stdout.flush()
        return status
    except InputError as error:
        return _fail(str(error), 2)
    except ImportError as error:
        return _not_imported(error)
    except KeyboardInterrupt:
        return _fail(f"stopped{_how_to_go_on(options)}", 130)
    except MemoryError:
        return _fail("not enough memory; ask for fewer trials at a time, or for shorter ones", 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"{error.filename or 'failed'}: {error.strerror or error}; nothing finished was lost", 1)


def _not_imported(error: ImportError) -> int:
    known = absent(error)
    return _fail(str(known), 2) if known else _fail(_BROKEN.format(error), 1)


def _how_to_go_on(options: argparse.Namespace) -> str:
    if "kept" not in options:
        return ""
    if options.kept:
        return "; the same command goes on from here"
    return "; nothing was kept: with --out FOLDER it would be, and the same command would go on from there"


def _fail(text: str, status: int) -> int:
    print(f"lcca: {printable(text)}", file=sys.stderr)
    return status


def _write_any_text() -> None:
    """Replace what the terminal's encoding has no letter for, such as µ, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
