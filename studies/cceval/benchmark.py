"""What a comparison takes in trials, from two runs of `lcca estimate` with several metrics on the same flows.

    python studies/cceval/benchmark.py RUN_A RUN_B [--figure PATH] [--json]

The runs have the same seed and the same fabric, so that trial k has the same flows in both. For each metric: how many
trials tell which policy is better on the same flows, on flows of their own, and by two estimates; how often ten trials
say the opposite of all of them (resampled, no seed is looked for); and what the flows offered explain, as a control
variate. `--figure` draws the first ten trials beside all, as CCEval's Fig. 3, of the metrics that `--draw` names.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from paired_metric import FEW, PairedMetric, paired_metric

from lcca.evaluation.report.figures.saving import save_png
from lcca.evaluation.trials.loaded_run import load_run
from lcca.evaluation.trials.metrics import statistic
from lcca.inputs.errors import InputError
from lcca.inputs.json_values import finite_values
from lcca.inputs.validation import read_with_files, validate
from lcca.studies.cceval.config import EstimateBlock, EstimationConfig
from lcca.studies.cceval.report.figures import draw_violins, violin_data

SEED = 1  # of the resampling


def read(run: Path) -> tuple[EstimationConfig, pd.DataFrame]:
    """Return a run's configuration and its flows."""
    return validate(read_with_files(run / "config.yaml", EstimationConfig), EstimationConfig), load_run(run).flows


def scenario_words(run: Path) -> str:
    """Return where a run's trials were, and how long they are."""
    fabric = read(run)[0].fabric
    return "" if fabric is None else f"{fabric.name}, trials of {(fabric.duration_us or 0) / 1e6:g} s"


def per_trial(asked: EstimateBlock, flows: pd.DataFrame) -> pd.Series:
    """Return the value of each trial that has one, by its seed."""
    counted = flows if asked.flows is None else asked.flows.of(flows)
    grouped = counted.groupby("seed")[asked.metric]
    found: pd.Series = grouped.agg(lambda own: statistic(own.dropna().to_numpy(dtype=np.float64), asked.quantile))
    return found


def offered(flows: pd.DataFrame) -> pd.DataFrame:
    """Return what each trial was offered, by its seed: bytes, and flows."""
    return flows.groupby("seed").size_bytes.agg(["sum", "size"])


def compare(a: Path, b: Path) -> Iterator[tuple[EstimateBlock, PairedMetric, dict[str, Any]]]:
    """Yield each metric that both runs have, what its comparison takes, and the values of the two."""
    (first, flows), (second, others) = read(a), read(b)
    if (first.seed, first.fabric) != (second.seed, second.fabric):
        raise InputError(f"{a} and {b}: not the same seed and fabric, so their trials have other flows")
    given, rng = offered(flows), np.random.default_rng(SEED)
    for asked in first.estimate.each:
        both = pd.concat([per_trial(asked, flows), per_trial(asked, others)], axis=1, join="inner", keys=["a", "b"])
        controls = {name: given.loc[both.index, name].to_numpy(dtype=np.float64) for name in given}
        x, y = both.a.to_numpy(dtype=np.float64), both.b.to_numpy(dtype=np.float64)
        yield asked, paired_metric(x, y, controls, rng), {first.policy: x, second.policy: y}


def draw(asked: EstimateBlock, values: dict[str, Any], path: Path) -> None:
    """Draw the first ten trials of both policies beside all of them."""
    violins = [each for count in (FEW, min(map(len, values.values()))) for each in violin_data(values, [count])]
    note = "(n): trials, the first ones; no seed was looked for. Bars: 95 % intervals of the means."
    figure = draw_violins(violins, f"{asked.words_for_it} of a trial", note=note)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_png(figure, path.parent, f"{path.name}-{asked.metric}-{100 * (asked.quantile or 0):g}".replace(".", "_"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("a", type=Path, metavar="RUN_A")
    parser.add_argument("b", type=Path, metavar="RUN_B")
    parser.add_argument("--figure", type=Path, help="write FIGURE-METRIC-QUANTILE.png of each metric")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = []
    for asked, found, values in compare(options.a, options.b):
        names = dict(zip(("A", "B"), values, strict=True))
        rows.append(names | {"metric": asked.words_for_it} | finite_values(asdict(found)))
        if options.figure:
            draw(asked, values, options.figure)
        if not options.json:
            _print(asked, found)
    if options.json:
        print(json.dumps({"scenario": scenario_words(options.a), "metrics": rows}, indent=1))
    return 0


def _print(asked: EstimateBlock, found: PairedMetric) -> None:
    print(
        f"{asked.words_for_it}: A {found.mean_a:.4g} ± {found.sd_a:.2g}, B {found.mean_b:.4g} ± {found.sd_b:.2g} (SD); "
        f"B − A {found.difference:+.3g} [{found.low:+.3g}, {found.high:+.3g}], {found.trials} trials"
    )
    print(
        f"  sign after {found.sign_paired:,.0f} pairs, {found.sign_independent:,.0f} trials of each on other flows, "
        f"{found.sign_separate:,.0f} of two estimates; each to 1 %: {found.percent_a:,.0f} and {found.percent_b:,.0f}; "
        f"pairing saves {found.saved:.2f}"
    )
    print(
        f"  ten say the opposite: {100 * found.wrong_independent:.1f} %, paired {100 * found.wrong_paired:.1f} %; "
        f"variance left by what was offered: {found.left_a:.2f}, {found.left_b:.2f}, {found.left_difference:.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
