"""Options that say where trials run: the fast engine or ns-3."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.fluid import FLUID
from lcca.remy_plus.simulator import Simulator

SIMPLE = {f.name: f.type for f in fields(Ns3Options) if f.name != "queue_attributes"}


def add_simulator_options(parser: argparse.ArgumentParser) -> None:
    """Add what says where trials run."""
    parser.add_argument(
        "--simulator",
        choices=(*SIMULATORS, FLUID),
        default="engine",
        help="the fast engine (default) or ns-3; on a fabric packet by packet (default), or the approximation fluid",
    )
    add_ns3_options(parser)


def add_ns3_options(parser: argparse.ArgumentParser) -> None:
    """Add what ns-3 has and the engine has not."""
    parser.add_argument(
        "--ns3",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"an option of ns-3, repeatable: {', '.join(SIMPLE)}; other keys are attributes of the queue",
    )


def simulator_for(options: argparse.Namespace, engine: Engine) -> Simulator:
    """Return the simulator that the options name, with the duration, model and jobs of the engine.

    Raises:
        InputError: ns-3 is not installed, or an option that it does not have.
    """
    if options.simulator == FLUID:
        raise InputError(f"--simulator {options.simulator}: needs --fabric")
    return SIMULATORS[options.simulator](engine, options.ns3)


def _engine(engine: Engine, settings: list[str]) -> Simulator:
    if settings:
        raise InputError("--ns3 needs --simulator ns3")
    return engine


def _ns3(engine: Engine, settings: list[str]) -> Simulator:
    return Ns3(engine.duration, engine.model, engine.jobs, parse_ns3(settings))


SIMULATORS: dict[str, Callable[[Engine, list[str]], Simulator]] = {"engine": _engine, "ns3": _ns3}
"""By name: how each is made of an engine's duration, model and jobs, and of the options of ns-3."""


def report_failures(errors: list[str]) -> int:
    """Say on standard error why trials failed, each reason once; return the exit status, 1 if any did."""
    for error, count in Counter(errors).items():
        print(f"lcca: {count} trials failed: {error}", file=sys.stderr)
    return 1 if errors else 0


def parse_ns3(settings: list[str]) -> Ns3Options:
    """Return the options of ns-3 from KEY=VALUE texts; keys that begin with a capital are the queue's attributes."""
    values: dict[str, Any] = {}
    attributes: list[tuple[str, str]] = []
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"--ns3 {setting}: write KEY=VALUE")
        if key[:1].isupper():
            attributes.append((key, text))
        elif key in SIMPLE:
            values[key] = _value(key, text)
        else:
            raise InputError(f"--ns3 {setting}: unknown key{did_you_mean(key, list(SIMPLE))}")
    return Ns3Options(**values, queue_attributes=tuple(attributes))


def _value(key: str, text: str) -> Any:
    kind = str(SIMPLE[key])
    if "str" in kind:
        return text
    try:
        return int(text) if "int" in kind else float(text)
    except ValueError as error:
        raise InputError(f"--ns3 {key}={text}: must be a number") from error
