"""The sub-commands, one module each.

A command is a module with `EXAMPLES` and `run(verb, options)`, which returns the exit status: the fields of the verb's
class are what the command takes (`lcca.inputs.options`), the options all that is parsed. In `more()` may be options of
fields that Python alone has otherwise. Only the module of the command that was asked for is imported. Those in `ROOMS`
are in a folder of that name.
"""

from __future__ import annotations

import keyword
from importlib import import_module
from types import ModuleType

from lcca.inputs.studies import added, full_name

GROUPS = {
    "answer": {
        "evaluate": "Run policies in one simulator or in both, or say what is possible whatever the policy.",
        "compare": "Compare policy B with policy A on fresh networks, until settled.",
        "rank": "Rank policies on the same fresh networks, with confidence intervals.",
        "study": "Answer questions about policies, markers and tuners on fabrics, each with its verdict.",
    },
    "look": {
        "show": "Print a policy, signal, signal set, header, transports, markers, tuners, network space or run.",
        "watch": "Show what a run is doing, from another terminal or machine.",
        "serve": "Show runs on a web page: list, filter, compare, progress, report.",
        "runs": "List the runs in a folder with what they have found.",
        "report": "Write a finished run's page and figures, or say what an unfinished campaign has found so far.",
        "diff": "Compare runs: configurations, verdicts, costs.",
        "verdict": "Compute a run's verdicts again from its stored trials alone.",
        "check": "Diagnose the installation and say how to fix what is broken.",
    },
    "learn": {
        "sweep": "Train, select, test and report a whole campaign, or a grid of them.",
        "tune": "Tune a congestion control, and compare it with its defaults.",
    },
    "files": {
        "init": "Write a campaign to start from, with comments.",
        "plot": "Draw a run's figures for a paper, with their data as CSV.",
        "export": "Write a run's tables, a scenario's flows for htsim, or a control law as C.",
        "import": "Turn flows and topologies of other simulators into a scenario, or a .dna file into a policy.json.",
        "schema": "Print the JSON Schema of a kind of YAML file, or of what a function of lcca.api takes.",
        "complete": "Print a script with which bash, zsh or tcsh completes commands, options and files.",
    },
}
"""What each command does, by theme, in the order in which help lists them."""

STUDIES = added("commands")
"""Commands that studies add, by name."""

for _name, (_, _command) in STUDIES.items():
    GROUPS[_command.group][_name] = _command.summary

COMMANDS = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}

WITHOUT_JSON = ("serve", "schema", "complete")
"""Commands that print no result, or one in a form of its own; all others have --json."""

WITH_TABLES = ("evaluate", "sweep")
"""Commands that print what was asked for first, and with --tables all the rest."""

ROOMS = {
    "results": ("diff", "export", "plot", "report", "runs", "serve", "verdict", "watch"),
    "setup": ("check", "complete", "init", "schema"),
}
"""Folders of commands, by theme."""


def load(name: str) -> ModuleType:
    """Import a command. In a broken installation this may fail in any way for all but `check`."""
    if name in STUDIES:
        study, command = STUDIES[name]
        return import_module(full_name(study, command.module))
    room = next((f".{room}" for room, names in ROOMS.items() if name in names), "")
    return import_module(f"{__name__}{room}.{name}{'_' if keyword.iskeyword(name) else ''}")
