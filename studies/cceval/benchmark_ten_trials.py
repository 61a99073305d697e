"""Ten trials that mislead: CCEval's Fig. 3 from our engine, with a wrong conclusion found by search over seeds.

    python studies/cceval/benchmark_ten_trials.py [--seeds 100] [--figure studies/cceval/ten-trials] [--json]

Two fixed windows, of 2 and of 2.25 bandwidth-delay products, meet WebSearch flows at half load; the metric is a trial's
p99 slowdown (the mean over trials of it is CCEval's target). Each seed gives ten trials of either policy, on flows of
their own. All trials together say which policy is slower. The seed whose ten trials say the opposite most clearly is
looked for and drawn beside all of them; a figure found by search is labelled as one. How many seeds point the
wrong way is what a single experiment risks. The same count on the same flows for both (paired) stands beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lcca.evaluation.report.figures.saving import save_png
from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.settling.quantiles import quantile
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import open_network
from lcca.remy_plus.policies.policy import FixedWindow
from lcca.remy_plus.workload import OpenFlows
from lcca.studies.cceval.flow_rows import run_flows
from lcca.studies.cceval.report.figures import draw_violins, violin_data

Floats = NDArray[np.float64]

NETWORK = open_network(0, 3.0, 25.0, OpenFlows(0.5, flow_sizes("websearch", 1000)), 1000)  # packets/µs, µs
DURATION = 200_000.0  # µs
POLICIES = {"2 BDP": FixedWindow(152), "2.25 BDP": FixedWindow(171)}
TRIALS = 10
QUANTILE = 0.99


@dataclass(frozen=True)
class Finding:
    """What all trials say, and what ten of them may.

    Differences are of means, B − A, in slowdowns.

    Attributes:
        seeds: how many were searched; each has ten trials of either policy.
        difference: over all trials of all seeds.
        low: lower end of its 95 % interval.
        high: upper end.
        wrong: seeds whose ten trials point the other way.
        wrong_paired: the same with both policies on the same flows.
        significant: seeds where they do so with p < 5 % (Welch).
        worst: the seed whose ten trials do so most clearly.
        worst_difference: what they say.
        worst_p: Welch's p-value of that.
    """

    seeds: int
    difference: float
    low: float
    high: float
    wrong: int
    wrong_paired: int
    significant: int
    worst: int
    worst_difference: float
    worst_p: float


def measure(policy: str, first: int, seeds: int) -> Floats:
    """Return the p99 slowdown of each trial, (seeds, ten), from seed `first` of the engine on."""
    rows = run_flows(Engine(DURATION, jobs=1), {"": POLICIES[policy]}, [NETWORK], range(first, first + seeds * TRIALS))
    values = np.array([quantile(own.dropna(), QUANTILE) for _, own in rows.groupby("seed")["slowdown"]])
    return values.reshape(seeds, TRIALS)


def search(a: Floats, b: Floats, b_paired: Floats) -> Finding:
    """Find the seed whose trials contradict all others most clearly; arguments are (seeds, trials)."""
    gaps = b.mean(axis=1) - a.mean(axis=1)
    truth = float(gaps.mean())
    low, high = truth + np.array([-1.0, 1.0]) * stats.norm.ppf(0.975) * np.hypot(
        stats.sem(a.ravel()), stats.sem(b.ravel())
    )
    test = stats.ttest_ind(b, a, axis=1, equal_var=False)
    against = np.sign(truth) * test.statistic
    worst = int(np.argmin(against))
    return Finding(
        seeds=len(a),
        difference=truth,
        low=float(low),
        high=float(high),
        wrong=int((gaps * truth < 0).sum()),
        wrong_paired=int(((b_paired - a).mean(axis=1) * truth < 0).sum()),
        significant=int(((against < 0) & (test.pvalue < 0.05)).sum()),
        worst=worst,
        worst_difference=float(gaps[worst]),
        worst_p=float(test.pvalue[worst]),
    )


def draw(a: Floats, b: Floats, found: Finding, path: Path) -> None:
    """Draw the worst seed's trials beside all trials, labelled as found by search."""
    few, many = (
        violin_data(dict(zip(POLICIES, pair, strict=True)), [pair[0].size])
        for pair in ((a[found.worst], b[found.worst]), (a.ravel(), b.ravel()))
    )
    note = (
        f"The ten trials were searched for: of {found.seeds} seeds, seed {found.worst} misleads most.\n"
        f"In {found.wrong} of {found.seeds} seeds ten trials point the wrong way; in {found.wrong_paired} if both "
        "policies meet the same flows.\n"
        "(n): trials. Bars: 95 % intervals of the means."
    )
    title = "Ten trials, found by search, against all"
    path.parent.mkdir(parents=True, exist_ok=True)
    save_png(draw_violins([*few, *many], "p99 slowdown of a trial", title, note=note), path.parent, path.name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, search, draw and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100, help="seeds to search, ten trials of either policy each")
    parser.add_argument("--figure", type=Path, help="write FIGURE.png")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    first, second = POLICIES
    own, others = 0, options.seeds * TRIALS
    a, b = measure(first, own, options.seeds), measure(second, others, options.seeds)
    found = search(a, b, measure(second, own, options.seeds))
    if options.figure:
        draw(a, b, found, options.figure)
    if options.json:
        print(json.dumps(asdict(found)))
        return 0
    trials = options.seeds * TRIALS
    means = " and ".join(f"{name} {t_interval(x.ravel())[0]:.3f}" for name, x in zip(POLICIES, (a, b), strict=True))
    print(f"{trials:,} trials each: p99 slowdown {means}, difference {found.difference:+.3f}", end=" ")
    print(f"[{found.low:+.3f}, {found.high:+.3f}]")
    print(f"ten trials, seed {found.worst} of {found.seeds}: {found.worst_difference:+.3f} (p = {found.worst_p:.2g})")
    print(
        f"of {found.seeds} seeds, {found.wrong} point the wrong way ({found.significant} with p < 5 %); "
        f"{found.wrong_paired} if both policies meet the same flows"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
