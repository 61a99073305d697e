"""The `lcca` command: one file per sub-command in `lcca.cli.commands`.

Exit status: 0 done, 1 failed, 2 bad input, 130 stopped by Ctrl-C. With --json, standard output holds the result and
nothing else.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from lcca.cli.commands import load
from lcca.experiments.runs.version import version
from lcca.inputs.errors import InputError


def parser(commands: Sequence[ModuleType]) -> argparse.ArgumentParser:
    """Return the whole command line."""
    top = argparse.ArgumentParser(
        prog="lcca",
        description="Learn a congestion control per signal set, compare them on fresh networks, say what is settled.",
        epilog="Start with:  lcca sweep configs/quickstart.yaml",
    )
    top.add_argument("--version", action="version", version=f"lcca {version()}")
    listed = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for each in commands:
        each.add(listed)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    _write_any_text()
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        commands = load()
    except Exception as error:  # a broken installation may fail in any way
        if given[:1] != ["check"]:
            return _fail(f"the installation is broken: {error}; see `lcca check`", 1)
        commands = load(["check"])
    return _run(parser(commands).parse_args(given))


def _run(options: argparse.Namespace) -> int:
    try:
        status = int(options.run(options))
        sys.stdout.flush()
        return status
    except InputError as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        again = "; the same command with --resume goes on from here" if "resume" in options else ""
        return _fail(f"stopped{again}", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"{error.filename or 'failed'}: {error.strerror or error}; nothing finished was lost", 1)


def _fail(text: str, status: int) -> int:
    print(f"lcca: {text}", file=sys.stderr)
    return status


def _write_any_text() -> None:
    """Replace what the terminal's encoding has no letter for, such as µ, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
