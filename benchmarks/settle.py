"""Error rates of the settling rules, and the trials that they need, by simulation.

    python benchmarks/settle.py [--json] [--repetitions 1000] [--noise 5 20 50] [--seed 1]

Two arms have lognormal results with a standard deviation of 5, 20 or 50 % of their mean, independent of each
other; a difference is the logarithm of the ratio of the medians, B over A, and the margin is 3 %. Every
rule meets the same numbers and settles them as it would in a campaign. Under no effect any winner is wrong;
at an effect of the margin, calling the arms equivalent is wrong, and so is the wrong winner.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
from scipy.stats import binomtest

from lcca.evaluation.settling.base import Rule, Settling
from lcca.evaluation.settling.cceval import CCEvalRule
from lcca.evaluation.settling.group_sequential import GroupSequentialRule
from lcca.evaluation.settling.repeated_t import RepeatedTRule
from lcca.evaluation.settling.verdict import SettlingRule

MARGIN_PERCENT = 3.0
MARGIN = math.log1p(MARGIN_PERCENT / 100)
EFFECTS = (0.0, MARGIN_PERCENT)  # per cent, for the error rates
MORE_EFFECTS = (0.0, 3.0, 5.0, 10.0)  # for the trials needed
MORE_NOISE = 20.0
RULES: dict[str, Rule] = {
    "t-mixture": SettlingRule(),
    "group-sequential": GroupSequentialRule(),
    "cceval": CCEvalRule(),
    "repeated-t": RepeatedTRule(),
}
VARIANTS: dict[str, Rule] = {  # at the noise of MORE_NOISE alone
    "t-mixture, independent arms": SettlingRule(arms="independent"),
    "t-mixture, α/10": SettlingRule().shared_among(10),
    "t-mixture, α/100": SettlingRule().shared_among(100),
    "cceval, 1.48 %": CCEvalRule(accuracy_percent=1.48),
}
CHUNK = 512  # trials drawn at a time


@dataclass(frozen=True)
class Row:
    """What a rule did in many comparisons; rates are parts of 1, with 95 % Clopper-Pearson intervals."""

    rule: str
    guarantee: str
    noise_percent: float
    effect_percent: float
    repetitions: int
    mean_trials: float
    winner: float
    equivalent: float
    not_settled: float
    wrong: float
    wrong_low: float
    wrong_high: float


def arms(seed: tuple[int, ...], noise_percent: float) -> Iterator[tuple[list[float], list[float]]]:
    """Yield chunks of both arms' logarithms, without any effect."""
    generator = np.random.Generator(np.random.PCG64(seed))
    sigma = math.sqrt(math.log1p((noise_percent / 100) ** 2))
    while True:
        a, b = generator.normal(0.0, sigma, (2, CHUNK))
        yield a.tolist(), b.tolist()


def settle(rule: Rule, noise_percent: float, effect: float, seed: tuple[int, ...]) -> Settling:
    """Settle one comparison with this effect (a difference of logarithms)."""
    run = rule.start(MARGIN)
    for a, b in arms(seed, noise_percent):
        run.feed_arms(a, [y + effect for y in b])
        if run.finished:
            break
    return run


def measure(name: str, rule: Rule, noise: float, effect: float, repetitions: int, seed: int) -> Row:
    """Settle many comparisons."""
    found, trials = Counter[str](), 0
    for repetition in range(repetitions):
        run = settle(rule, noise, math.log1p(effect / 100), (seed, int(noise), repetition))
        found[run.state.verdict.name] += 1
        trials += run.state.n
    wrong = found["worse"] + (found["better"] if effect == 0 else found["equivalent"])
    ends = binomtest(wrong, repetitions).proportion_ci(0.95)
    return Row(
        rule=name,
        guarantee=rule.guarantee,
        noise_percent=noise,
        effect_percent=effect,
        repetitions=repetitions,
        mean_trials=trials / repetitions,
        winner=(found["better"] + found["worse"]) / repetitions,
        equivalent=found["equivalent"] / repetitions,
        not_settled=found["not settled"] / repetitions,
        wrong=wrong / repetitions,
        wrong_low=float(ends.low),
        wrong_high=float(ends.high),
    )


def rows(noises: list[float], repetitions: int, seed: int) -> Iterator[Row]:
    """Yield all rows, rule by rule."""
    for noise in noises:
        chosen = RULES | (VARIANTS if noise == MORE_NOISE else {})
        for name, rule in chosen.items():
            for effect in MORE_EFFECTS if noise == MORE_NOISE else EFFECTS:
                yield measure(name, rule, noise, effect, repetitions, seed)


def print_table(found: list[Row]) -> None:
    """Print a line per row."""
    head = ("rule", "noise", "effect", "trials", "winner", "equivalent", "unsettled", "wrong (95 %)")
    print(f"{head[0]:28}{head[1]:>6}{head[2]:>8}{head[3]:>9}{head[4]:>9}{head[5]:>12}{head[6]:>11}  {head[7]}")
    for row in found:
        wrong = f"{100 * row.wrong:4.1f} ({100 * row.wrong_low:.1f} to {100 * row.wrong_high:.1f})"
        rates = f"{100 * row.winner:9.1f}{100 * row.equivalent:12.1f}{100 * row.not_settled:11.1f}"
        where = f"{row.noise_percent:6g}{row.effect_percent:8g}{row.mean_trials:9.0f}"
        print(f"{row.rule:28}{where}{rates}  {wrong}")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--noise", type=float, nargs="+", default=[5.0, 20.0, 50.0], metavar="PERCENT")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    start = time.process_time()
    found = list(rows(options.noise, options.repetitions, options.seed))
    if options.json:
        print(json.dumps({"margin_percent": MARGIN_PERCENT, "rows": [asdict(row) for row in found]}, indent=1))
        return
    print_table(found)
    print(f"per cent; {options.repetitions} comparisons a line; {time.process_time() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
