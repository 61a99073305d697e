"""What `lcca rank --bench` ranks: congestion controls in ns-3 on the scenarios of a benchmark."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from lcca.cli.options.policies import load_policy, policy_to_run
from lcca.cli.options.ranking import Contest, short_names
from lcca.evaluation.bench.benchmark import benchmark
from lcca.evaluation.bench.engine import EngineBench
from lcca.evaluation.bench.ns3 import Ns3Bench
from lcca.evaluation.bench.runner import Runner
from lcca.evaluation.bench.source import BenchTrials
from lcca.experiments.bench.cache import CachedTrials
from lcca.experiments.bench.forecast import cost, cpu_s_per_megabit
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.forecast import Cost
from lcca.experiments.runs.seeds import derive

CACHE = Path("results") / "trial-cache"
MODULES = {
    "ns3": ("lcca.evaluation.bench.ns3", "lcca.ns3"),
    "engine": ("lcca.evaluation.bench.engine", "lcca.remy_plus._core"),
}
"""The code that a trial's result depends on, with all that it reaches, by simulator."""

LINK_INTERVAL = 10.0
"""µs, here ms: the model's own, which benchmarks run with."""

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """Parse a time such as 90s, 30m or 2h."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smh])", text)
    if not found or not float(found[1]):
        raise argparse.ArgumentTypeError(f"{text[:40]}: must be a time such as 90s, 30m or 2h")
    return float(found[1]) * UNITS[found[2]]


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Add what rankings on a benchmark have besides."""
    parser.add_argument(
        "--trial-cache",
        type=Path,
        metavar="FOLDER",
        help=f"with --bench: trials that were run before, used and added to (default: {CACHE}; none with --out)",
    )


def contest_on_bench(options: argparse.Namespace) -> Contest:
    """Return the controls that the options name, on the benchmark that they name.

    Raises:
        InputError: something is asked for that a benchmark has not, or ns-3 is missing.
    """
    _refuse(options)
    found = benchmark(options.bench)
    policies = [policy_to_run(options, load_policy(options, name)) for name in options.policies]
    named = dict(zip(short_names(options.policies), policies, strict=True))
    runner: Runner = {"ns3": Ns3Bench, "engine": EngineBench}[options.simulator](options.jobs)
    for policy in policies:
        runner.check(found, policy)
    cache = options.trial_cache or (None if options.out else CACHE)
    cached = runner if cache is None else CachedTrials(runner, cache, MODULES[options.simulator])
    source = BenchTrials(found, derive(options.seed, "bench", found.name), cached)
    most = options.networks or len(found.scenarios)
    return Contest(source, named, "--networks", most, {"bench": found.name}, source.first_look)


def costs_on_bench(options: argparse.Namespace, contest: Contest) -> tuple[dict[str, float], list[Cost]]:
    """Return the CPU seconds per Gb that each control takes, and what the first look costs and the most scenarios."""
    source = contest.source
    assert isinstance(source, BenchTrials)
    paces = cpu_s_per_megabit(source.benchmark, source.seed, source.runner, contest.policies)
    looks = (contest.first_look * source.block, source.whole(contest.most))
    found = [cost(source.benchmark, source.seed, paces, count, options.jobs) for count in looks]
    return {name: 1000 * pace for name, pace in paces.items()}, found


def _refuse(options: argparse.Namespace) -> None:
    asked = {
        "--set": bool(options.overrides),
        "--seeds": options.seeds is not None,
        "--utility": options.utility is not None,
        "--topology": options.topology is not None,
        "--duration": options.duration is not None,
        "--ns3": bool(options.ns3),
        "--link-interval": options.link_interval != LINK_INTERVAL,
        "--link-window": options.link_window is not None,
        f"--simulator {options.simulator}": options.simulator not in MODULES,
    }
    for name, given in asked.items():
        require(not given, f"{name}: not with --bench")
