"""How often do the bands of a map miss the truth, and what do they find? Synthetic campaigns whose map is known.

    python studies/maps/benchmark.py [--truth null smooth step] [--campaigns 200] [--points 256] [--seeds 8]
                                       [--skewed] [--json]

Maps over senders (1 to 16) and RTT (20 to 30 µs) by 8 training seeds, in 4 looks whose new points go where something is
open, margin 3 % (0.0426 bits), α = 5 %. A training's luck is an offset and a smooth process (SD 0.008 bits in all, of
the size of real control laws'), a trial's noise has SD 0.03 bits, 2.5 times that with one or two senders. *Missed*: at
any look the band does not hold the truth at some point, in some region or on some effect curve, with its 95 %
Clopper-Pearson bound. *False*: at any look a point is called better or worse where the truth is 0. *Found*: the share
of the space with a truth beyond the margin that is called better or worse at the end.

Truths: *null* is 0; *smooth* goes from −0.16 to +0.12 bits; *step* is 0.12 bits with at most three senders and an RTT
above 24 µs, and 0 elsewhere, a jump from one level to the next, which no smooth curve follows. *Skewed* luck has an
offset of skewness −2: a bad training is worse than a good one is good.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from lcca.studies.maps.axes import Axis, coordinates, filling
from lcca.studies.maps.looks import Ground, look, new_points
from lcca.studies.maps.smoothing import Spectra, matern

Floats = NDArray[np.float64]

AXES = (Axis("senders", tuple(range(1, 17))), Axis("rtt", tuple(range(20, 31))))
MARGIN, ALPHA, LOOKS, LUCK, NOISE = 0.0426, 0.05, 4, 0.008, 0.03
TRUTHS = ("null", "smooth", "step")


@dataclass(frozen=True)
class Found:
    """What a campaign says."""

    missed: bool
    false: bool
    found: float
    settled: float
    points: int


def truth_of(name: str, values: Floats) -> Floats:
    """Return the true difference at points, in bits."""
    u = coordinates(AXES, values)
    if name == "smooth":
        return 0.08 * np.cos(3 * u[:, 0]) * (0.5 + u[:, 1])
    return np.where((values[:, 0] <= 3) & (values[:, 1] > 24) & (name == "step"), 0.12, 0.0)


def campaign(name: str, number: int, points: int, seeds: int, skewed: bool, ground: Ground, root: Floats) -> Found:
    """Run a campaign; `root` is of the covariance of luck at the points of the ground, which are all levels."""
    rng, step = np.random.default_rng(number), points // LOOKS
    offset = 1 - rng.exponential(size=seeds) if skewed else rng.standard_normal(seeds)
    luck = LUCK * (root @ rng.standard_normal((len(root), seeds)) + offset) / np.sqrt(2)
    truth = truth_of(name, ground.values)
    real = ground.means @ truth
    rows = {tuple(row): i for i, row in enumerate(ground.values.tolist())}
    values, differences = filling(AXES, number, 0, step), np.empty((0, seeds))
    missed = false = False
    for count in range(1, LOOKS + 1):
        at = [rows[tuple(row)] for row in values[-step:].tolist()]
        spread = NOISE * (1 + 1.5 * (values[-step:, :1] <= 2))
        own = truth[at][:, None] + luck[at] + spread * rng.standard_normal((step, seeds))
        differences = np.vstack([differences, own])
        spectra = Spectra(coordinates(AXES, values))
        seen = look(ground, spectra, differences, MARGIN, ALPHA, (count - 1) / LOOKS, count / LOOKS)
        verdicts = np.array([each.name for each in seen.verdicts(seen.points)])
        moved = np.isin(verdicts, ("better", "worse"))
        missed |= bool(((seen.band.low > real) | (seen.band.high < real)).any())
        false |= bool((moved & (truth == 0)).any())
        if seen.settled or count == LOOKS:
            break
        values = np.vstack([values, new_points(AXES, [seen], number, len(values), step)])
    worth = np.abs(truth) > MARGIN
    share = float(moved[worth].mean()) if worth.any() else np.nan
    return Found(missed, false, share, float((verdicts != "not settled").mean()), len(values))


def measure(name: str, campaigns: int, points: int, seeds: int, skewed: bool) -> Iterator[Found]:
    """Yield what so many campaigns with a truth say."""
    ground = Ground(AXES, np.empty((0, 2)))
    covariance = matern(ground.places, ground.places, (0.5, 0.5))
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(covariance)))
    return (campaign(name, number, points, seeds, skewed, ground, root) for number in range(campaigns))


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truth", nargs="+", choices=TRUTHS, default=TRUTHS)
    parser.add_argument("--campaigns", type=int, default=200)
    parser.add_argument("--points", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--skewed", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for name in options.truth:
        found = list(measure(name, options.campaigns, options.points, options.seeds, options.skewed))
        missed, false = (sum(getattr(each, key) for each in found) for key in ("missed", "false"))
        row = {"truth": name, "campaigns": len(found), "missed": missed / len(found), "false": false / len(found)}
        row["missed_high"] = float(binomtest(missed, len(found)).proportion_ci(0.95).high)
        row |= {key: float(np.mean([getattr(each, key) for each in found])) for key in ("found", "settled", "points")}
        if options.json:
            print(json.dumps({key: each if each == each else None for key, each in row.items()}), flush=True)
            continue
        print(
            f"{name}: missed {row['missed']:.1%} (at most {row['missed_high']:.1%}) of {len(found)} campaigns, false "
            f"{row['false']:.1%}; found {row['found']:.0%}, settled {row['settled']:.0%} of the space, "
            f"{row['points']:.0f} points",
            flush=True,
        )


if __name__ == "__main__":
    main()
