"""What `lcca rank --bench` ranks: congestion controls in ns-3 on the scenarios of a benchmark."""

from __future__ import annotations

import argparse
import re

from lcca.cli.options.policies import load_policy, policy_to_run
from lcca.cli.options.ranking import Contest, short_names
from lcca.evaluation.bench.benchmark import benchmark
from lcca.evaluation.bench.ns3 import Ns3Bench
from lcca.evaluation.bench.source import BenchTrials
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.seeds import derive

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """Parse a time such as 90s, 30m or 2h."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smh])", text)
    if not found or not float(found[1]):
        raise argparse.ArgumentTypeError(f"{text[:40]}: must be a time such as 90s, 30m or 2h")
    return float(found[1]) * UNITS[found[2]]


def contest_on_bench(options: argparse.Namespace) -> Contest:
    """Return the controls that the options name, on the benchmark that they name.

    Raises:
        InputError: something is asked for that a benchmark has not, or ns-3 is missing.
    """
    _refuse(options)
    found = benchmark(options.bench)
    policies = [policy_to_run(options, load_policy(options, name)) for name in options.policies]
    named = dict(zip(short_names(options.policies), policies, strict=True))
    runner = Ns3Bench(options.jobs)
    for policy in policies:
        runner.check(found, policy)
    source = BenchTrials(found, derive(options.seed, "bench", found.name), runner)
    return Contest(source, named, "--networks", options.networks or len(found.scenarios), {"bench": found.name})


def _refuse(options: argparse.Namespace) -> None:
    asked = {
        "--set": bool(options.overrides),
        "--seeds": options.seeds is not None,
        "--utility": options.utility is not None,
        "--topology": options.topology is not None,
        "--duration": options.duration is not None,
        "--ns3": bool(options.ns3),
    }
    for name, given in asked.items():
        require(not given, f"{name}: not with --bench")
