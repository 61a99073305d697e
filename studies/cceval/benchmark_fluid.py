"""How far fluids are from the whole fabric, and what they save as control variates.

    python studies/cceval/benchmark_fluid.py --out FOLDER [--fabrics leaf-spine fat-tree dumbbell]
        [--loads 0.3 0.5 0.8] [--trials 20]

For every fabric, load and transport both simulators run the same trials of 1 ms of WebSearch flows, one thread. FOLDER
keeps a file for each of them, so that a stopped run goes on, and gets errors.csv and controls.csv. Errors are of
quantiles of the slowdown of all trials' flows, in per cent of the whole fabric's, with 95 % intervals by resampling
trials, both simulators' together. Controls: the correlation ρ over trials of their own quantiles, the cost c of a trial
over that of the whole fabric's, and the gain: how many times fewer CPU seconds than plain trials for the same
interval, with the best number of cheap trials; its interval is that of ρ by Fisher's z.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import run_fabric_trial, run_fluid_trial
from lcca.evaluation.settling.quantiles import quantile
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.settings import FABRIC, FLUID
from lcca.signal_sets.load import resolve
from lcca.studies.cceval.estimators.control import best_per_trial

FABRICS: dict[str, dict[str, Any]] = {
    "leaf-spine": {"topology": {"kind": "leaf-spine", "tors": 4, "hosts_per_tor": 4, "spines": 2, "uplink_gbps": 200}},
    "fat-tree": {"topology": {"kind": "fat-tree", "k": 4}},
    "dumbbell": {"topology": {"kind": "dumbbell", "pairs": 10}},
}
CLASSES = {
    "all": (0, np.inf),
    "below 10 kB": (0, 1e4),
    "10 to 100 kB": (1e4, 1e5),
    "100 kB to 1 MB": (1e5, 1e6),
    "from 1 MB": (1e6, np.inf),
}
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)
FEWEST_BEYOND = 5
"""Flows beyond a quantile: with fewer it is not told."""
METRICS = {"p99 below 100 kB": (0, 1e5, 0.99), "p50 from 1 MB": (1e6, np.inf, 0.5)}
RESAMPLED = 300
BY = ["fabric", "load", "transport"]
RUNS = {FABRIC: run_fabric_trial, FLUID: run_fluid_trial}


def scenario(fabric: str, load: float, duration_us: float) -> FabricScenario:
    """Return a fabric with WebSearch flows; on the dumbbell for ten times as long, at that load of its one link."""
    flows: dict[str, Any] = {"kind": "poisson", "sizes": "websearch", "load": load, "load_of": "host-links"}
    if fabric == "dumbbell":
        flows, duration_us = flows | {"load": load / 10, "senders": 10}, 10 * duration_us
    return FabricScenario.model_validate(
        {"name": fabric, **FABRICS[fabric], "workload": flows, "duration_us": duration_us}
    )


def measured(where: FabricScenario, transport: str, trials: int) -> pd.DataFrame:
    """Return a row per flow and simulator: trial, simulator, size_bytes, slowdown, cpu_s (of the trial)."""
    engine, found = engine_of(resolve(transport, "fabric").policy, where.settings()), []
    for seed, simulator in itertools.product(range(trials), RUNS):
        flows, began = where.flows(seed), time.process_time()
        trial = RUNS[simulator](where, transport, engine, seed, flows)
        took = time.process_time() - began
        size, slowdown = flows.size_bytes[trial.started], trial.times.slowdown
        found.append(
            pd.DataFrame(
                {"trial": seed, "simulator": simulator, "size_bytes": size, "slowdown": slowdown, "cpu_s": took}
            )
        )
    return pd.concat(found, ignore_index=True)


def by_trial(rows: pd.DataFrame, low: float, high: float) -> dict[str, list[NDArray[np.float64]]]:
    """Return the slowdowns of flows from one size to another, trial by trial, of every simulator."""
    counted = rows[(rows["size_bytes"] >= low) & (rows["size_bytes"] < high)]
    groups = {key: group["slowdown"].to_numpy() for key, group in counted.groupby(["simulator", "trial"])}
    trials = sorted(counted["trial"].unique())
    return {simulator: [groups[simulator, trial] for trial in trials] for simulator in RUNS}


def _quantiles(flows: list[Any]) -> list[float]:
    return [quantile(np.concatenate(flows), p) for p in QUANTILES]


def errors(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the error of every quantile, in per cent."""
    rng = np.random.default_rng(1)
    for name, (low, high) in CLASSES.items():
        found = by_trial(rows, low, high)
        count = len(found[FABRIC])
        draws = [np.arange(count), *rng.integers(count, size=(RESAMPLED, count))]
        quantiles = {
            simulator: np.array([_quantiles([flows[i] for i in draw]) for draw in draws])
            for simulator, flows in found.items()
        }
        total = sum(len(each) for each in found[FABRIC])
        off = 100 * (quantiles[FLUID] / quantiles[FABRIC] - 1)
        ends = np.array([[quantile(each, p) for each in off[1:].T] for p in (0.025, 0.975)])
        for at, p in enumerate(QUANTILES):
            if total * (1 - p) >= FEWEST_BEYOND:
                told = {"sizes": name, "flows": total, "quantile": p, "whole": quantiles[FABRIC][0, at]}
                yield told | {"error_percent": off[0, at], "low": ends[0, at], "high": ends[1, at]}


def gain(found: float, cost: float) -> float:
    """Return how many times fewer CPU seconds the best number of cheap trials takes for the same variance."""
    k = best_per_trial(found, cost)
    return 1 / ((1 - found**2 + found**2 / k) * (1 + cost + k * cost))


def controls(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what fluids save in the mean over trials of their own quantiles."""
    cpu = rows.groupby(["simulator", "trial"])["cpu_s"].first().groupby("simulator").mean()
    for name, (low, high, p) in METRICS.items():
        values = {key: [quantile(each, p) for each in found] for key, found in by_trial(rows, low, high).items()}
        count = len(values[FABRIC])
        rho, cost = float(np.corrcoef(values[FABRIC], values[FLUID])[0, 1]), float(cpu[FLUID] / cpu[FABRIC])
        reach = 1.96 / np.sqrt(count - 3)
        low, high = (gain(max(float(np.tanh(np.arctanh(rho) + sign * reach)), 0.0), cost) for sign in (-1, 1))
        told = {"metric": name, "trials": count, "correlation": rho, "cost": cost, "gain": gain(rho, cost)}
        yield told | {"per_trial": best_per_trial(rho, cost), "low": low, "high": high}


def table(cells: dict[tuple[Any, ...], pd.DataFrame], of: Any) -> pd.DataFrame:
    """Return what a function yields of every cell, as a table."""
    return pd.DataFrame([dict(zip(BY, cell, strict=True)) | row for cell, rows in cells.items() for row in of(rows)])


def main() -> None:
    """Measure what is missing, write both tables, and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--fabrics", nargs="+", choices=FABRICS, default=list(FABRICS))
    parser.add_argument("--loads", nargs="+", type=float, default=[0.3, 0.5, 0.8])
    parser.add_argument("--transports", nargs="+", default=["dctcp", "dcqcn", "timely", "hpcc"])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--duration-us", type=float, default=1000)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    cells: dict[tuple[Any, ...], pd.DataFrame] = {}
    for cell in itertools.product(options.fabrics, options.loads, options.transports):
        file = options.out / "-".join(map(str, (*cell, options.trials, options.duration_us, ".parquet")))
        if not file.exists():
            rows = measured(scenario(cell[0], cell[1], options.duration_us), cell[2], options.trials)
            rows.to_parquet(file.with_suffix(".part"))
            file.with_suffix(".part").rename(file)
        cells[cell] = pd.read_parquet(file)
        print(*cell, flush=True)
    for name, found in (("errors", table(cells, errors)), ("controls", table(cells, controls))):
        found.to_csv(options.out / f"{name}.csv", index=False, float_format="%.4g")
        print(found.to_string(index=False, float_format="%.3g"))


if __name__ == "__main__":
    main()
