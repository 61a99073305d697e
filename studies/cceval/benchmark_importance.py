"""How often the intervals of importance sampling hold the truth, and what it saves, on queues whose truth is known.

    python studies/cceval/benchmark_importance.py [CASE ...] [--repetitions 300] [--budget N] [--accuracy PERCENT]
        [--json]

Truth is the pooled quantile of 40 million flows of plain trials (its own error is told). Per case: coverage of the
interval delivered, how often importance sampling was delivered and each test refused it, coverage where it was
delivered, and *saved*: how many times the cost (in plain trials) a plain pooled estimate needs for the same mean
square error; "saved by trials" counts every simulation as 1. `--never-refuse` shows what the refusals are good for.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from queues import first_come_first_served, processor_sharing
from tail_estimate import CCEVAL, TailEstimate, estimate_tail

from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.evaluation.settling.quantiles import quantile, quantile_of_ranks
from lcca.studies.cceval.estimators.estimate import EstimateConfig, Estimating
from lcca.studies.cceval.importance.attempt import ImportanceConfig, attempt_tail, search
from lcca.studies.cceval.importance.cycles import Bench, Measure, batches, woodruff
from lcca.studies.cceval.importance.flows import LognormalSizes, OpenLoop, Simulator, Sizes, TableSizes
from lcca.studies.cceval.importance.tilts import NormalTilt

Estimator: TypeAlias = Callable[[Bench, ImportanceConfig, np.random.Generator], TailEstimate]

TRUTH_SEED = 1
TRUTH_TRIALS = 2_000_000
CHUNK = 50_000
WEBSEARCH = TableSizes(flow_sizes("websearch", 1000))


@dataclass(frozen=True)
class Case:
    """A queue, its load and what is estimated."""

    p: float
    flows: float = 20
    load: float = 0.5
    simulate: Simulator = processor_sharing()  # noqa: RUF009
    sizes: Sizes = WEBSEARCH
    budget: int = 10_000
    slowdown: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def truth_trials(self) -> int:
        """Plain trials for the truth."""
        return max(int(TRUTH_TRIALS * 20 / self.flows) // CHUNK, 1) * CHUNK

    def bench(self) -> Bench:
        """Return what is simulated."""
        rate = self.load / self.sizes.mean
        loop = OpenLoop(rate, self.flows / rate, self.sizes)
        return Bench(loop, self.simulate, metric=_slowdown) if self.slowdown else Bench(loop, self.simulate)

    def config(self, budget: int | None) -> ImportanceConfig:
        """Return the estimator's options."""
        return ImportanceConfig.model_validate({"quantile": self.p, "budget": budget or self.budget} | self.options)


@dataclass(frozen=True)
class ParetoSizes:
    """Sizes of at least 1 that are larger than x with chance x^−shape: without a variance below a shape of 2."""

    shape: float

    @property
    def mean(self) -> float:
        """Mean size."""
        return self.shape / (self.shape - 1)

    def beyond(self, chance: Any) -> Any:
        """Return the sizes that a flow surpasses with this chance."""
        return np.maximum(chance, np.finfo(np.float64).tiny) ** (-1 / self.shape)


def _slowdown(fct: Any, size: Any) -> Any:
    return fct / size


FCFS, LOGNORMAL = first_come_first_served(), LognormalSizes(0.0, 1.0)
CASES = {
    "sharing-p99": Case(0.99),
    "sharing-p99-light": Case(0.99, load=0.2),
    "sharing-p99-pareto": Case(0.99, sizes=ParetoSizes(1.2)),
    "sharing-p999": Case(0.999),
    "sharing-p99-long": Case(0.99, flows=100, budget=2000),
    "sharing-p999-busy": Case(0.999, load=0.8),
    "sharing-p99-slowdown": Case(0.99, slowdown=True),
    "sharing-p999-hadoop": Case(0.999, sizes=TableSizes(flow_sizes("fb-hadoop", 1000))),
    "in-order-p99": Case(0.99, simulate=FCFS),
    "in-order-p999": Case(0.999, simulate=FCFS),
    "in-order-p99-md1": Case(0.99, simulate=FCFS, sizes=LognormalSizes(0.0, 1e-6)),
    "lognormal-normal-tilt": Case(0.99, sizes=LOGNORMAL, simulate=FCFS, options={"tilt": "normal"}),
    "lognormal-cceval": Case(0.99, sizes=LOGNORMAL, simulate=FCFS, options=CCEVAL),
}


def truth(case: Case) -> tuple[float, float]:
    """Return the pooled quantile by force, and the half-width of its interval."""
    bench, rng = case.bench(), np.random.default_rng(TRUTH_SEED)
    plain, tails, counts = Measure(NormalTilt(), bench.loop.rate), [], []
    floor = -np.inf
    for _ in range(case.truth_trials // CHUNK):
        cycles = bench.run(plain, CHUNK, rng)
        if not np.isfinite(floor):
            floor = quantile(cycles.value, 1 - 3 * (1 - case.p))
        counts.append(len(cycles.value))
        tails.append((cycles.flows.trial[cycles.value > floor], cycles.value[cycles.value > floor]))
    return _quantile_of(tails, sum(counts), case.p)


def _quantile_of(tails: list[Any], flows: int, p: float) -> tuple[float, float]:
    """Return the quantile of all flows, given those beyond some lower value, and the half-width."""
    values = np.sort(np.concatenate([value for _, value in tails]))[::-1]
    rank = (1 - p) * flows
    found = quantile_of_ranks(flows, p, lambda k: float(values[flows - 1 - k]))
    beyond = np.concatenate([np.bincount(trial[value > found], minlength=CHUNK) for trial, value in tails])
    reach = 1.96 * float(beyond.std()) * np.sqrt(len(beyond))
    return found, float(values[max(int(rank - reach), 0)] - values[int(rank + reach)]) / 2


def measure(name: str, repetitions: int, budget: int | None, estimate: Estimator, seed: int) -> dict[str, Any]:
    """Repeat a case."""
    case = CASES[name]
    bench, config, (wanted, error) = case.bench(), case.config(budget), truth(case)
    began = time.process_time()
    found = [estimate(bench, config, np.random.default_rng([seed, i])) for i in range(repetitions)]
    cpu = time.process_time() - began
    told = {
        "case": name,
        "truth": wanted,
        "truth_error_percent": 100 * error / wanted,
        "repetitions": repetitions,
        "budget": config.budget,
        "coverage_percent": _coverage(found, wanted),
        "cpu_s": cpu,
    }
    plain_error = (error / 1.96) ** 2 * case.truth_trials  # mean square error × trials
    return told | _delivered(found, wanted, plain_error)


def _coverage(found: list[TailEstimate], wanted: float) -> float | None:
    return 100 * float(np.mean([each.low <= wanted <= each.high for each in found])) if found else None


def _delivered(found: list[TailEstimate], wanted: float, plain: float) -> dict[str, Any]:
    weighted = [each for each in found if not each.refused]
    refusals = Counter(check.test.name.lower() for each in found for check in each.refused)
    told = {
        "delivered_percent": 100 * len(weighted) / len(found),
        "coverage_where_delivered_percent": _coverage(weighted, wanted),
        "refused_percent": {name: 100 * count / len(found) for name, count in refusals.most_common()},
        "bias_percent": 100 * (float(np.mean([each.estimate for each in found])) / wanted - 1),
    }
    if len(weighted) < 20:
        return told
    error = float(np.mean([(each.estimate - wanted) ** 2 for each in weighted]))
    return told | {
        "variance_ratio": float(np.median([each.variance_ratio or 0 for each in weighted])),
        "saved": plain / error / float(np.mean([each.cost for each in weighted])),
        "saved_by_trials": plain / error / float(np.mean([each.trials for each in weighted])),
    }


def unchecked(bench: Bench, config: ImportanceConfig, rng: np.random.Generator) -> TailEstimate:
    """Estimate by importance sampling without any test: what the refusals are good for."""
    found = search(bench, config, rng)
    spent = max(found.runs, found.work / bench.loop.mean_work)
    cycles = bench.run(found.measure, max(int((config.budget - spent) / 2), 2 * config.batch), rng)
    how = woodruff if config.interval == "woodruff" else batches
    told = how(cycles, config.quantile, config.confidence)
    runs = found.runs + cycles.runs
    cost = max(runs, (found.work + cycles.work) / bench.loop.mean_work)
    return TailEstimate(told.estimate, told.low, told.high, config.confidence, runs, cost, "unchecked", (), (), None)


def to_accuracy(bench: Bench, config: ImportanceConfig, rng: np.random.Generator, percent: float) -> TailEstimate:
    """Estimate as `lcca estimate` does: stop at an accuracy, fall back to the model-free estimation."""
    wanted = EstimateConfig(
        metric="value", quantile=config.quantile, accuracy_percent=percent, ceiling=config.budget, floor=100, every=500
    )
    tried = attempt_tail(bench, config, rng, wanted=wanted)
    told = (tried.refused, tried.checks, tried.variance_ratio)
    if tried.interval is not None:
        ends = (tried.interval.estimate, tried.interval.low, tried.interval.high, config.confidence)
        return TailEstimate(*ends, tried.runs, tried.spent, tried.words, *told)
    going, plain = Estimating(wanted), Measure(NormalTilt(), bench.loop.rate)
    while not going.finished:
        cycles = bench.run(plain, 500, rng)
        going.feed(np.split(cycles.value, cycles.flows.begin[1:-1]))
    found = going.state
    ends = (found.estimate, found.low, found.high, found.confidence)
    return TailEstimate(*ends, tried.runs + found.trials, tried.spent + found.trials, found.method, *told)


def estimator(never_refuse: bool, accuracy: float | None) -> Estimator:
    if accuracy is not None:
        return lambda bench, config, rng: to_accuracy(bench, config, rng, accuracy)
    return unchecked if never_refuse else estimate_tail


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--budget", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--never-refuse", action="store_true")
    parser.add_argument("--accuracy", type=float, metavar="PERCENT", help="stop there, as `lcca estimate` does")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for name in options.cases or CASES:
        estimate = estimator(options.never_refuse, options.accuracy)
        told = measure(name, options.repetitions, options.budget, estimate, options.seed)
        if options.json:
            print(json.dumps(told), flush=True)
        else:
            print("\n".join(f"{key:34} {_shown(value)}" for key, value in told.items()), end="\n\n", flush=True)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
