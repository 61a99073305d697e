"""Does the rule over training seeds keep its error rate where trainings are not normal? A null made of real trainings.

    python benchmarks/settling/null_seeds.py [SUMMARY.json …] [--alpha 0.05] [--repetitions 4000] [--json]

What is left of each training's score without the mean of its signal set (times √(n/(n−1))) makes a pool for every
utility of a summary; sets whose trainings are all alike are left out. Campaigns of 5 to 24 training seeds are drawn
from a pool with replacement, each with a true difference of 0: *one set* is the luck of one set alone (skewed, as in
training: a bad training is worse than a good one is good), *two sets* the difference of two draws. *Wrong*: at any
number of seeds from the first look on the interval excludes 0, with its 95 % Clopper-Pearson bound; *Student's t*
does so at the same looks.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, kurtosis, skew, t

from lcca.evaluation.comparison.sets import FIRST_SEEDS, MOST_SEEDS, SeedInterval

Floats = NDArray[np.float64]
REFERENCE = Path(__file__).parents[2] / "results" / "reference"
SUMMARIES = ("signals.json", "headers-quickstart.json", "paper/utilities.json", "paper/high-senders.json")


def pools(file: Path) -> Iterator[tuple[str, Floats]]:
    """Yield each utility's pool of training luck, in bits, mean 0."""
    rows = json.loads(file.read_text())["signal_sets"]
    for utility in dict.fromkeys(row["utility"] for row in rows):
        scores = [np.array(row["scores_bits"]) for row in rows if row["utility"] == utility]
        luck = [(x - x.mean()) * np.sqrt(x.size / (x.size - 1)) for x in scores if x.size > 1 and np.ptp(x) > 0]
        if not luck:
            raise SystemExit(f"{file}: no signal set with several trainings that differ (utility {utility})")
        pool = np.concatenate(luck)
        yield f"{file.stem}, {utility}", pool - pool.mean()


def t_excludes(d: Floats, alpha: float) -> bool:
    """Tell whether Student's t interval excludes 0."""
    return bool(abs(d.mean()) > t.isf(alpha / 2, d.size - 1) * d.std(ddof=1) / np.sqrt(d.size))


def mixture_excludes(d: Floats, alpha: float) -> bool:
    """Tell whether the interval of campaigns excludes 0."""
    found = SeedInterval.of(d, alpha)
    return found.low > 0 or found.high < 0


def wrong(drawn: Floats, alpha: float, excludes: Callable[[Floats, float], bool]) -> int:
    """Return in how many campaigns a rule excludes 0 at any number of seeds."""
    looks = range(FIRST_SEEDS, MOST_SEEDS + 1)
    return sum(any(excludes(row[:n], alpha) for n in looks) for row in drawn)


def measure(name: str, pool: Floats, alpha: float, repetitions: int) -> Iterator[dict[str, Any]]:
    """Settle campaigns between equals; yield a row for one set's luck, and one for two."""
    about = {"pool": name, "trainings": pool.size, "sd": pool.std(), "skewness": skew(pool), "kurtosis": kurtosis(pool)}
    shape = (repetitions, MOST_SEEDS)
    rng = np.random.default_rng(7)
    one, other = rng.choice(pool, shape), rng.choice(pool, shape)
    for noise, drawn in (("one set", one), ("two sets", one - other)):
        found, by_t = (wrong(drawn, alpha, each) for each in (mixture_excludes, t_excludes))
        bound = float(binomtest(found, repetitions).proportion_ci(0.95).high)
        rates = {"wrong": found / repetitions, "wrong_high": bound, "wrong_by_t": by_t / repetitions}
        yield about | {"noise": noise} | rates


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("summaries", type=Path, nargs="*", default=[REFERENCE / name for name in SUMMARIES])
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--repetitions", type=int, default=4000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for file in options.summaries:
        for name, pool in pools(file):
            for row in measure(name, pool, options.alpha, options.repetitions):
                if options.json:
                    print(
                        json.dumps(
                            {key: each if isinstance(each, (str, int)) else float(each) for key, each in row.items()}
                        )
                    )
                    continue
                print(
                    f"{row['pool']}, {row['noise']}: {row['trainings']} trainings, SD {row['sd']:.3f}, skewness "
                    f"{row['skewness']:+.1f}, kurtosis {row['kurtosis']:+.1f}; wrong {row['wrong']:.1%} (at most "
                    f"{row['wrong_high']:.1%}), Student's t {row['wrong_by_t']:.1%}"
                )


if __name__ == "__main__":
    main()
