"""Does a ranking on a benchmark keep its error rate? A null that can fail, made of a ranking's own trials.

    python studies/ccbench/benchmark.py RUN [--first-look 17] [--turns 1] [--alpha 0.05]
        [--repetitions 1000] [--json]

RUN is the folder of a benchmark's ranking. The differences of each pair of controls are shifted so that their true mean
is 0, and rankings of 648 scenarios are drawn from them with replacement, stratum by stratum, in blocks of `turns`
scenarios of each stratum. *Wrong*: at any look the interval excludes 0; its 95 % Clopper-Pearson bound.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, skew

from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.rules import BY_KIND
from lcca.evaluation.trials.loaded_run import load_run
from lcca.studies.ccbench.benchmark import benchmark

SCENARIOS = 648


def pairs(run: Path) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each pair of controls, and its (turns, strata) differences with mean 0."""
    loaded = load_run(run)
    parts = benchmark(str(loaded.config["where"]["name"])).block
    scores = loaded.trials.pivot(index="network", columns="policy", values="score_bits").sort_index()
    whole = scores.iloc[: len(scores) // parts * parts]
    for a, b in combinations(whole.columns, 2):
        d = (whole[b] - whole[a]).to_numpy().reshape(-1, parts)
        yield f"{b} against {a}", d - d.mean()


def measure(name: str, d: NDArray[np.float64], rule: Rule, turns: int, repetitions: int) -> dict[str, Any]:
    """Settle rankings of controls that are equal."""
    wrong, held, first = 0, 0, []
    for number in range(repetitions):
        drawn = np.random.default_rng([7, number]).integers(0, len(d), (rule.ceiling or 0, turns, d.shape[1]))
        run = rule.start()
        run.feed(d[drawn, np.arange(d.shape[1])].mean(axis=(1, 2)).tolist())
        wrong += any(look.low > 0 or look.high < 0 for look in run.looks)
        held += run.looks[-1].low <= 0 <= run.looks[-1].high
        first.append(run.looks[0].high - run.looks[0].mean)
    bound = binomtest(wrong, repetitions).proportion_ci(0.95)
    rates = {"wrong": wrong / repetitions, "wrong_high": float(bound.high), "covered_at_end": held / repetitions}
    return {"pair": name, "skewness": float(skew(d.ravel())), **rates, "first_half_width": float(np.median(first))}


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--first-look", type=int, default=17)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = []
    for name, d in pairs(options.run):
        ceiling = SCENARIOS // (d.shape[1] * options.turns)
        rule = BY_KIND["t-mixture"](ceiling=ceiling, alpha=options.alpha, first_look=options.first_look)
        found.append(measure(name, d, rule, options.turns, options.repetitions))
    if options.json:
        print(json.dumps(found))
        return
    for row in found:
        wrong = f"wrong {row['wrong']:.4f} (at most {row['wrong_high']:.4f})"
        ends = f"covered at the end {row['covered_at_end']:.4f}, first half-width {row['first_half_width']:.3f}"
        print(f"{row['pair']}: skewness {row['skewness']:+.2f}, {wrong}, {ends}")


if __name__ == "__main__":
    main()
